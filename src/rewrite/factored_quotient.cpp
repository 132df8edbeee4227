#include "rewrite/factored_quotient.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "expr/walk.h"
#include "rewrite/match.h"

namespace lathe {
namespace {

// The sum's factors with the dividend in the quotient's place, and the divisor at the sum's own axes.
struct Taken {
  std::vector<Expr> factors;
  Expr divisor;
};

// The dividend and the divisor of what the factor reads, at the place where it does.
std::optional<Binary> quotient_of(const Dag& dag, const Compute& sum, const Expr& factor) {
  const Load* load = factor.as<Load>();
  if (load == nullptr || dag.is_output(load->tensor)) return std::nullopt;
  const Compute* producer = dag.producer(load->tensor);
  const bool has_more = producer != nullptr && producer->output.elements() > sum.output.elements();
  if (!has_more || producer->reduction != Reduction::none || dag.consumers(load->tensor).size() != 1)
    return std::nullopt;
  const Binary* quotient = producer->body.as<Binary>();
  if (quotient == nullptr || quotient->op != BinaryOp::div || quotient->a.as<Load>() == nullptr)
    return std::nullopt;
  Substitution places;
  for (size_t i = 0; i < load->index.size(); ++i) places.emplace_back(producer->axes[i].var, load->index[i]);
  return Binary{BinaryOp::div, substitute(quotient->a, places), substitute(quotient->b, places)};
}

std::optional<Taken> taken_apart(const Dag& dag, const Compute& sum) {
  if (sum.reduction != Reduction::sum || !is_float(sum.output->dtype)) return std::nullopt;
  std::vector<Expr> factors = factors_of(sum.body);
  if (factors.size() < 2) return std::nullopt;
  for (Expr& factor : factors) {
    const auto quotient = quotient_of(dag, sum, factor);
    if (!quotient || factor.type() != Type{sum.output->dtype, 1}) continue;
    const bool is_moved = std::ranges::any_of(sum.axes, [&](const Axis& axis) {
      return axis.kind == AxisKind::reduce && uses(quotient->b, axis.var);
    });
    if (is_moved) continue;
    factor = quotient->a;
    return Taken{std::move(factors), quotient->b};
  }
  return std::nullopt;
}

}  // namespace

Result<Dag> rewrite_factored_quotient(const Dag& dag, const std::string& stage, const RewriteParameters&) {
  LATHE_TRY(const size_t position, find_stage(dag, stage));
  const Compute& compute = dag.computes[position];
  const auto taken = taken_apart(dag, compute);
  if (!taken) {
    return fail(ErrorKind::illegal_schedule,
                fmt::format("factored_quotient does not apply to '{}': it is no sum of products with a "
                            "quotient, which nothing else reads, of more elements than the sum and whose "
                            "divisor stays the same while it is added up",
                            stage));
  }
  const Tensor dividend(stage + ".N", compute.output->shape, compute.output->dtype);
  std::vector<Axis> axes;
  std::vector<Affine> index;
  Substitution renamed;
  for (size_t a = 0; a < compute.spatial_count(); ++a) {
    axes.push_back(spatial(compute.axes[a].var.name(), compute.axes[a].extent));
    index.emplace_back(axes.back().var);
    renamed.emplace_back(compute.axes[a].var, index.back());
  }
  std::vector<Compute> computes = {
      {dividend, compute.axes, Reduction::sum, product_of(taken->factors)},
      {compute.output, axes, Reduction::none, load(dividend, index) / substitute(taken->divisor, renamed)}};
  return without_unused(replace_stage(dag, position, std::move(computes)));
}

}  // namespace lathe
