// Tensors on the host, as the interpreter, the references and the tests pass them around: values in logical
// row-major order, whatever layout the program keeps them in. Plain values.
#pragma once

#include <algorithm>
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
// The same of each.
void round_all(DType dtype, std::span<double> values);
// Whether that changes none of them; a NaN counts as changed.
bool are_rounded(DType dtype, std::span<const double> values);

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

// The dimension whose next index is nearest in storage, by such tables; the last one where all have one
// index.
size_t innermost_dimension(const std::vector<std::vector<int64_t>>& tables);

// Calls `visit(position in row-major order, offset in storage)` for every element, in the order of positions.
template <class Visit>
void for_each_offset(const Layout& layout, std::span<const int64_t> shape, const Visit& visit) {
  if (shape.empty()) return visit(0, 0);
  const std::vector<std::vector<int64_t>> tables = offset_tables(layout, shape);
  int64_t position = 0;
  const auto descend = [&](const auto& self, size_t dim, int64_t offset) -> void {
    if (dim + 1 < shape.size()) {
      for (const int64_t part : tables[dim]) self(self, dim + 1, offset + part);
      return;
    }
    for (const int64_t part : tables[dim]) visit(position++, offset + part);
  };
  descend(descend, 0, 0);
}

// The same in an order in which positions and offsets both stay near each other: where the layout puts
// another dimension innermost, that one and the last are gone through in blocks, as a matrix is transposed.
template <class Visit>
void for_each_offset_nearby(const Layout& layout, std::span<const int64_t> shape, const Visit& visit) {
  const std::vector<std::vector<int64_t>> tables = offset_tables(layout, shape);
  const size_t innermost = innermost_dimension(tables);
  if (innermost + 1 >= shape.size()) return for_each_offset(layout, shape, visit);
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size() - 1; dim-- > 0;) strides[dim] = strides[dim + 1] * shape[dim + 1];
  constexpr size_t kBlock = 64;
  const std::vector<int64_t>& inner = tables[innermost];
  const std::vector<int64_t>& last = tables.back();
  const auto block = [&](size_t first, size_t from, int64_t position, int64_t offset) {
    for (size_t i = first; i < std::min(first + kBlock, inner.size()); ++i) {
      const int64_t row = position + static_cast<int64_t>(i) * strides[innermost];
      for (size_t j = from; j < std::min(from + kBlock, last.size()); ++j)
        visit(row + static_cast<int64_t>(j), offset + inner[i] + last[j]);
    }
  };
  const auto descend = [&](const auto& self, size_t dim, int64_t position, int64_t offset) -> void {
    if (dim == innermost) return self(self, dim + 1, position, offset);
    if (dim + 1 < shape.size()) {
      for (size_t i = 0; i < tables[dim].size(); ++i)
        self(self, dim + 1, position + static_cast<int64_t>(i) * strides[dim], offset + tables[dim][i]);
      return;
    }
    for (size_t first = 0; first < inner.size(); first += kBlock)
      for (size_t from = 0; from < last.size(); from += kBlock) block(first, from, position, offset);
  };
  descend(descend, 0, 0, 0);
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
