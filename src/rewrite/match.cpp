#include "rewrite/match.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe {

Result<size_t> find_stage(const Dag& dag, const std::string& stage) {
  for (size_t i = 0; i < dag.computes.size(); ++i) {
    if (dag.computes[i].output->name == stage) return i;
  }
  return fail(ErrorKind::illegal_schedule, fmt::format("there is no compute '{}' to rewrite", stage));
}

Dag replace_stage(const Dag& dag, size_t stage, std::vector<Compute> computes) {
  Dag result = dag;
  const auto place = result.computes.begin() + static_cast<std::ptrdiff_t>(stage);
  result.computes.insert(result.computes.erase(place), std::make_move_iterator(computes.begin()),
                         std::make_move_iterator(computes.end()));
  return result;
}

int64_t extent_of(const Compute& compute, const std::vector<size_t>& axes) {
  int64_t extent = 1;
  for (const size_t i : axes) extent *= compute.axes[i].extent;
  return extent;
}

Dag without_unused(Dag dag) {
  for (size_t i = dag.computes.size(); i-- > 0;) {
    const Tensor& output = dag.computes[i].output;
    if (dag.is_output(output) || !dag.consumers(output).empty()) continue;
    dag.computes.erase(dag.computes.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return dag;
}

std::vector<Expr> factors_of(const Expr& e) {
  const Binary* product = e.as<Binary>();
  if (product == nullptr || product->op != BinaryOp::mul) return {e};
  std::vector<Expr> factors = factors_of(product->a);
  for (Expr& factor : factors_of(product->b)) factors.push_back(std::move(factor));
  return factors;
}

Expr product_of(const std::vector<Expr>& factors) {
  Expr product = factors.front();
  for (size_t i = 1; i < factors.size(); ++i) product = product * factors[i];
  return product;
}

namespace {

// Whether the load indexes a dimension by exactly this axis; gives the dimension.
std::optional<size_t> dim_indexed_by(const Load& load, const Affine& index) {
  for (size_t dim = 0; dim < load.index.size(); ++dim) {
    if (load.index[dim] == index) return dim;
  }
  return std::nullopt;
}

bool uses_axis(const Load& load, const Var& var) {
  return std::ranges::any_of(load.index, [&](const Affine& index) { return index.uses(var); });
}

// The window that a reduce axis runs over, if it is one.
std::optional<WindowedProduct::Window> window_of(const Compute& compute, const Load& data, const Load& weight,
                                                 size_t reduce_axis) {
  const Affine k(compute.axes[reduce_axis].var);
  const Affine flipped = Affine(compute.axes[reduce_axis].extent - 1) - k;
  if (!dim_indexed_by(weight, k) && !dim_indexed_by(weight, flipped)) return std::nullopt;
  if (dim_indexed_by(data, k)) return std::nullopt;
  for (size_t y = 0; y < compute.spatial_count(); ++y) {
    const auto data_dim = dim_indexed_by(data, Affine(compute.axes[y].var) + k);
    if (!data_dim || uses_axis(weight, compute.axes[y].var)) continue;
    return WindowedProduct::Window{y, reduce_axis, *data_dim};
  }
  return std::nullopt;
}

std::optional<WindowedProduct> match_operands(const Compute& compute, const Load& data, const Load& weight) {
  WindowedProduct product{data, weight, {}, {}};
  for (size_t r = compute.spatial_count(); r < compute.axes.size(); ++r) {
    const Var& k = compute.axes[r].var;
    if (!uses_axis(weight, k) || !uses_axis(data, k)) return std::nullopt;
    if (const auto window = window_of(compute, data, weight, r)) {
      product.windows.push_back(*window);
    } else {
      product.channels.push_back(r);
    }
  }
  return product;
}

// What is loaded of a type that nothing is computed in stands in a cast.
const Load* widened_load(const Expr& e) {
  const Cast* cast = e.as<Cast>();
  const bool widens = cast != nullptr && is_storage_only(cast->operand.type().dtype);
  return (widens ? cast->operand : e).as<Load>();
}

}  // namespace

std::optional<WindowedProduct> match_windowed_product(const Compute& compute) {
  if (compute.reduction != Reduction::sum) return std::nullopt;
  const Binary* product = compute.body.as<Binary>();
  if (product == nullptr || product->op != BinaryOp::mul) return std::nullopt;
  const Load* a = widened_load(product->a);
  const Load* b = widened_load(product->b);
  if (a == nullptr || b == nullptr) return std::nullopt;
  auto match = match_operands(compute, *a, *b);
  return match ? match : match_operands(compute, *b, *a);
}

}  // namespace lathe
