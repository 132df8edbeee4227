// Numbers as the bytes that a program reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "expr/type.h"
#include "loop/host_tensor.h"
#include "task/layout.h"

namespace lathe {

// Writes row-major values as elements of the type, in the layout. Block padding, which belongs to no element,
// holds NaN where the type has it: a program that lets it into a result is found out.
void write_stored(DType dtype, std::span<const int64_t> shape, std::span<const double> values,
                  const Layout& layout, std::span<std::byte> to);

// The row-major values of elements that lie there so; of integers beyond 2^53 the nearest doubles.
void read_stored(DType dtype, std::span<const int64_t> shape, std::span<const std::byte> from,
                 const Layout& layout, std::span<double> values);

// A tensor's elements as its type keeps them, row-major: f64 and i64 as much as they take as doubles, others
// half or less.
struct StoredTensor {
  DType dtype = {};
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
};

StoredTensor store(const HostTensor& tensor);
HostTensor load(const StoredTensor& tensor);
// The same elements in a layout, with padding as above.
void write_stored(const StoredTensor& tensor, const Layout& layout, std::span<std::byte> to);

}  // namespace lathe
