#include "ops/window.h"

#include <fmt/format.h>

#include "ops/axes.h"

namespace lathe {

Window uniform_window(size_t count, int64_t stride, int64_t padding, int64_t dilation) {
  Window window;
  window.stride.assign(count, stride);
  window.padding.assign(count, padding);
  window.dilation.assign(count, dilation);
  return window;
}

int64_t window_count(int64_t input, int64_t kernel, const Window& window, size_t d) {
  const int64_t room = input + window.before(d) + window.after(d) - window.dilation_of(d) * (kernel - 1) - 1;
  return room < 0 ? 0 : room / window.stride_of(d) + 1;
}

Status check_window(std::span<const int64_t> input, std::span<const int64_t> kernel, const Window& window) {
  for (size_t d = 0; d < input.size(); ++d) {
    if (window_count(input[d], kernel[d], window, d) >= 1) continue;
    return fail(
        ErrorKind::invalid_argument,
        fmt::format("a kernel of {} with dilation {} does not fit an input of {} with padding {} and {}",
                    kernel[d], window.dilation_of(d), input[d], window.before(d), window.after(d)));
  }
  return {};
}

Tensor pad(DagBuilder& builder, const Tensor& tensor, size_t first_dim, size_t count, const Window& window,
           double value) {
  std::vector<Axis> axes = axes_of(tensor, first_dim == 1);
  std::vector<Affine> index = indices(axes);
  Expr inside;
  const auto require = [&](const Expr& condition) {
    inside = inside.defined() ? inside && condition : condition;
  };
  bool changes = false;
  for (size_t d = 0; d < count; ++d) {
    Axis& axis = axes[first_dim + d];
    const int64_t before = window.before(d);
    const int64_t end = before + axis.extent;
    if (before > 0) require(Expr(axis.var) >= Expr(before));
    if (window.after(d) > 0) require(Expr(axis.var) < Expr(end));
    changes = changes || before != 0 || window.after(d) != 0;
    axis.extent = end + window.after(d);
    index[first_dim + d] = Affine(axis.var) - Affine(before);
  }
  if (!changes) return tensor;
  const Expr element = load(tensor, std::move(index));
  const Expr body = inside.defined() ? select(inside, element, literal(element.type(), value)) : element;
  return builder.compute(builder.fresh_name(tensor->name + ".pad"), std::move(axes), body);
}

}  // namespace lathe
