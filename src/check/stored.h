// Numbers as the bytes that a program reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "expr/type.h"
#include "task/layout.h"

namespace lathe {

// Writes row-major values as elements of the type, in the layout. Block padding, which belongs to no element,
// holds NaN where the type has it: a program that lets it into a result is found out.
void write_stored(DType dtype, std::span<const int64_t> shape, std::span<const double> values,
                  const Layout& layout, std::span<std::byte> to);

// The row-major values of elements that lie there so; of integers beyond 2^53 the nearest doubles.
void read_stored(DType dtype, std::span<const int64_t> shape, std::span<const std::byte> from,
                 const Layout& layout, std::span<double> values);

}  // namespace lathe
