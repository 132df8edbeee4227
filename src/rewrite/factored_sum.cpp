#include "rewrite/factored_sum.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/walk.h"
#include "rewrite/match.h"

namespace lathe {
namespace {

// The factors that the inner sum takes, and those that are left.
struct Factored {
  std::vector<Expr> inner;
  std::vector<Expr> outer;
};

std::optional<Factored> factor(const Compute& compute, size_t axis) {
  if (compute.reduction != Reduction::sum || axis >= compute.axes.size()) return std::nullopt;
  if (compute.axes.size() < compute.spatial_count() + 2) return std::nullopt;
  const std::vector<Expr> factors = factors_of(compute.body);
  const bool plain = std::ranges::all_of(factors, [&](const Expr& e) {
    return e.as<Load>() != nullptr && e.type() == Type{compute.output->dtype, 1};
  });
  if (!plain || compute.output->dtype != DType::f32) return std::nullopt;
  Factored factored;
  for (const Expr& e : factors)
    (uses(e, compute.axes[axis].var) ? factored.inner : factored.outer).push_back(e);
  if (factored.inner.size() < 2 || factored.outer.empty()) return std::nullopt;
  return factored;
}

// The sum over the one axis, for all else that its factors vary with; `index` becomes the place of one of its
// results.
Compute inner_sum(const Compute& compute, size_t axis, const Factored& factored, const std::string& name,
                  std::vector<Affine>& index) {
  const Expr body = product_of(factored.inner);
  std::vector<Axis> axes;
  std::vector<int64_t> shape;
  Substitution renamed;
  for (size_t a = 0; a < compute.axes.size(); ++a) {
    const Axis& own = compute.axes[a];
    if (a == axis || !uses(body, own.var)) continue;
    axes.push_back(spatial(own.var.name(), own.extent));
    shape.push_back(own.extent);
    index.emplace_back(own.var);
    renamed.emplace_back(own.var, Affine(axes.back().var));
  }
  axes.push_back(reduce(compute.axes[axis].var.name(), compute.axes[axis].extent));
  renamed.emplace_back(compute.axes[axis].var, Affine(axes.back().var));
  return {Tensor(name, shape, compute.output->dtype), axes, Reduction::sum, substitute(body, renamed)};
}

}  // namespace

Result<Dag> rewrite_factored_sum(const Dag& dag, const std::string& stage,
                                 const RewriteParameters& parameters) {
  LATHE_TRY(const size_t position, find_stage(dag, stage));
  const Compute& compute = dag.computes[position];
  const auto wanted = parameters.find("axis");
  const int64_t place = wanted == parameters.end() ? 0 : wanted->second;
  const size_t axis = compute.spatial_count() + static_cast<size_t>(std::max<int64_t>(place, 0));
  const auto factored = place < 0 ? std::nullopt : factor(compute, axis);
  if (!factored) {
    return fail(ErrorKind::illegal_schedule,
                fmt::format("factored_sum does not apply to '{}': it is no sum over two axes or more of the "
                            "product of three f32 elements or more, of which some, but not one alone, vary "
                            "with the axis",
                            stage));
  }
  std::vector<Affine> index;
  std::vector<Compute> computes = {inner_sum(compute, axis, *factored, stage + ".F", index)};
  std::vector<Axis> axes = compute.axes;
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(axis));
  std::vector<Expr> factors = factored->outer;
  factors.push_back(load(computes.front().output, index));
  computes.push_back({compute.output, axes, Reduction::sum, product_of(factors)});
  return replace_stage(dag, position, std::move(computes));
}

}  // namespace lathe
