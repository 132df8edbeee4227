// Tensors on the host, as the interpreter, the references and the tests pass them around: values in logical
// row-major order, whatever layout the program keeps them in. Plain values.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/rng.h"
#include "expr/tensor.h"
#include "task/layout.h"

namespace lathe {

// Every element is held as a double: exact for all element types but integers of 64 bits beyond 2^53.
struct HostTensor {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  std::vector<double> values;  // row-major
};

// The value that storing `value` as `dtype` and reading it back gives. Floats round to nearest even, integers
// are cut towards zero and wrap around; what is no number becomes the integer 0.
double round_to(DType dtype, double value);

// Zeros with the tensor's type and shape.
HostTensor zeros_like(const Tensor& tensor);
// Floats uniform in [-1, 1), rounded to the type; integers 0 .. limit - 1, booleans 0 or 1.
HostTensor random_like(const Tensor& tensor, Rng& rng, int64_t limit = 4);
// The same with integers of this interval, as far as the type holds them.
HostTensor random_within(const Tensor& tensor, Rng& rng, Interval integers);
// Such values for some of a tensor's elements: one part after another they are those of the whole.
void draw_within(std::span<double> values, DType dtype, Rng& rng, Interval integers);

// Offsets are sums over the dimensions: entry [d][i] is what index i of dimension d adds.
std::vector<std::vector<int64_t>> offset_tables(const Layout& layout, std::span<const int64_t> shape);

// Calls `visit(position in row-major order, offset in storage)` for every element.
template <class Visit>
void for_each_offset(const Layout& layout, std::span<const int64_t> shape, const Visit& visit) {
  const std::vector<std::vector<int64_t>> tables = offset_tables(layout, shape);
  int64_t position = 0;
  const auto descend = [&](const auto& self, size_t dim, int64_t offset) -> void {
    if (dim == shape.size()) return visit(position++, offset);
    for (const int64_t part : tables[dim]) self(self, dim + 1, offset + part);
  };
  descend(descend, 0, 0);
}

// Row-major values -> storage in a layout; what belongs to no element (block padding) gets `padding`.
template <class T>
std::vector<T> pack(const Layout& layout, std::span<const int64_t> shape, std::span<const T> logical,
                    T padding) {
  std::vector<T> storage(static_cast<size_t>(physical_elements(layout, shape)), padding);
  for_each_offset(layout, shape, [&](int64_t position, int64_t offset) {
    storage[static_cast<size_t>(offset)] = logical[static_cast<size_t>(position)];
  });
  return storage;
}

}  // namespace lathe
