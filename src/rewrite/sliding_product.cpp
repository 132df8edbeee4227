#include "rewrite/sliding_product.h"

#include <algorithm>

#include "expr/walk.h"

namespace lathe {
namespace {

bool runs_along(const Load& load, const Var& var) {
  return std::ranges::any_of(load.index, [&](const Affine& index) { return index.uses(var); });
}

// The only dimension whose index varies with the variable, and there directly.
std::optional<size_t> only_dim(const Load& load, const Var& var) {
  std::optional<size_t> found;
  for (size_t dim = 0; dim < load.index.size(); ++dim) {
    if (!load.index[dim].uses(var)) continue;
    if (found || load.index[dim].uses_inside_atom(var)) return std::nullopt;
    found = dim;
  }
  return found;
}

// The window that this reduce axis runs over, if it is one. Of several outputs in its dimension the last that
// moves by single steps counts.
std::optional<SlidingProduct::Window> window_of(const Compute& compute, const Load& data, const Expr& weight,
                                                size_t reduce_axis) {
  const Var& k = compute.axes[reduce_axis].var;
  const auto dim = only_dim(data, k);
  if (!dim || compute.axes[reduce_axis].extent < 2) return std::nullopt;
  const int64_t dilation = data.index[*dim].coefficient(k);
  if (dilation < 1) return std::nullopt;
  for (size_t y = compute.spatial_count(); y-- > 0;) {
    const Var& output = compute.axes[y].var;
    if (compute.axes[y].extent < 2 || only_dim(data, output) != dim || uses(weight, output)) continue;
    if (data.index[*dim].coefficient(output) == 1)
      return SlidingProduct::Window{y, reduce_axis, *dim, dilation};
  }
  return std::nullopt;
}

std::optional<SlidingProduct> match_factors(const Compute& compute, const Expr& first, const Expr& second) {
  const Load* data = first.as<Load>();
  if (data == nullptr || !data->tensor->literal.empty()) return std::nullopt;
  SlidingProduct product{*data, second, {}, {}, {}, {}, {}};
  for (size_t r = compute.spatial_count(); r < compute.axes.size(); ++r) {
    const Var& var = compute.axes[r].var;
    const bool is_single = compute.axes[r].extent == 1;
    if (!is_single && (!runs_along(*data, var) || !uses(second, var))) return std::nullopt;
    const auto window = window_of(compute, *data, second, r);
    const bool is_new =
        window && std::ranges::find(product.windows, window->output_axis,
                                    &SlidingProduct::Window::output_axis) == product.windows.end();
    if (is_new) {
      product.windows.push_back(*window);
    } else {
      product.channels.push_back(r);
    }
  }
  if (product.windows.empty()) return std::nullopt;
  std::ranges::sort(product.windows, {}, &SlidingProduct::Window::output_axis);
  for (size_t s = 0; s < compute.spatial_count(); ++s) {
    const bool is_output =
        std::ranges::find(product.windows, s, &SlidingProduct::Window::output_axis) != product.windows.end();
    if (is_output) continue;
    const bool in_data = runs_along(*data, compute.axes[s].var);
    const bool in_weight = uses(second, compute.axes[s].var);
    if (!in_weight) {
      product.rows.push_back(s);
    } else {
      (in_data ? product.shared : product.features).push_back(s);
    }
  }
  return product;
}

}  // namespace

std::optional<SlidingProduct> match_sliding_product(const Compute& compute) {
  const Binary* product = compute.reduction == Reduction::sum ? compute.body.as<Binary>() : nullptr;
  if (product == nullptr || product->op != BinaryOp::mul) return std::nullopt;
  auto match = match_factors(compute, product->a, product->b);
  return match ? match : match_factors(compute, product->b, product->a);
}

}  // namespace lathe
