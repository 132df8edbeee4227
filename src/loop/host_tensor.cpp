#include "loop/host_tensor.h"

#include <algorithm>
#include <cmath>

#include "expr/integers.h"
#include "loop/interpreter/arithmetic.h"

namespace lathe {

double round_to(DType dtype, double value) {
  if (dtype == DType::boolean) return value != 0 ? 1 : 0;
  if (!is_float(dtype)) return number_kept(dtype, cut_to(dtype, value));
  if (dtype == DType::f64) return value;
  if (dtype == DType::f32) return static_cast<double>(static_cast<float>(value));
  return as_stored(dtype, value);
}

void round_all(DType dtype, std::span<double> values) {
  // Known to be of one type, they are rounded several at a time.
  if (dtype == DType::f32) {
    for (double& value : values) value = static_cast<double>(static_cast<float>(value));
  } else if (dtype != DType::f64) {
    for (double& value : values) value = round_to(dtype, value);
  }
}

bool are_rounded(DType dtype, std::span<const double> values) {
  if (dtype == DType::f32)
    return std::ranges::all_of(
        values, [](double value) { return static_cast<double>(static_cast<float>(value)) == value; });
  return std::ranges::all_of(values, [&](double value) { return round_to(dtype, value) == value; });
}

HostTensor zeros_like(const Tensor& tensor) {
  return {tensor->dtype, tensor->shape, std::vector<double>(static_cast<size_t>(tensor.elements()))};
}

HostTensor random_like(const Tensor& tensor, Rng& rng, int64_t limit) {
  return random_within(tensor, rng, {0, limit - 1});
}

HostTensor random_within(const Tensor& tensor, Rng& rng, Interval integers) {
  HostTensor result = zeros_like(tensor);
  draw_within(result.values, result.dtype, rng, integers);
  return result;
}

void draw_within(std::span<double> values, DType dtype, Rng& rng, Interval integers) {
  if (is_float(dtype)) {
    for (double& value : values) value = 2 * rng.uniform() - 1;
    return round_all(dtype, values);
  }
  Interval drawn = integers_of(dtype);
  if (dtype != DType::boolean) {
    drawn = {std::clamp(integers.lo, drawn.lo, drawn.hi), std::clamp(integers.hi, drawn.lo, drawn.hi)};
  }
  for (double& value : values) value = static_cast<double>(rng.between(drawn.lo, drawn.hi));
}

std::vector<std::vector<int64_t>> offset_tables(const Layout& layout, std::span<const int64_t> shape) {
  std::vector<std::vector<int64_t>> tables(shape.size());
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    for (index[dim] = 0; index[dim] < shape[dim]; ++index[dim]) {
      tables[dim].push_back(flatten(layout, shape, std::span<const int64_t>(index)));
    }
    index[dim] = 0;
  }
  return tables;
}

size_t innermost_dimension(const std::vector<std::vector<int64_t>>& tables) {
  size_t innermost = tables.empty() ? 0 : tables.size() - 1;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (size_t dim = tables.size(); dim-- > 0;) {
    if (tables[dim].size() < 2) continue;
    const int64_t step = std::abs(tables[dim][1] - tables[dim][0]);
    if (step < least) {
      least = step;
      innermost = dim;
    }
  }
  return innermost;
}

}  // namespace lathe
