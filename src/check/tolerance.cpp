#include "check/tolerance.h"

#include <algorithm>
#include <cmath>

#include "expr/walk.h"
#include "rewrite/rewrite.h"

namespace lathe {
namespace {

// Those that a body writes out, of integers too.
double additions_of(const Expr& body) {
  double additions = 0;
  for_each(body, [&](const Expr& e) {
    const Binary* binary = e.as<Binary>();
    if (binary != nullptr && (binary->op == BinaryOp::add || binary->op == BinaryOp::sub)) ++additions;
  });
  return additions;
}

// Whether the Dag computes in double alone what it computes in floats.
bool is_in_double(const Dag& dag) {
  const auto is_narrow = [](DType dtype) { return is_float(dtype) && dtype != DType::f64; };
  const auto is_double = [&](const Compute& compute) {
    bool found = !is_narrow(compute.output->dtype) || !accumulates(compute.reduction);
    for_each(compute.body, [&](const Expr& e) {
      const bool computes = e.as<Unary>() != nullptr || e.as<Binary>() != nullptr || e.as<Cast>() != nullptr;
      if (computes && is_narrow(e.type().dtype)) found = false;
    });
    return found;
  };
  const auto of_input = [](const Tensor& input) { return input->dtype == DType::f64; };
  const auto of_compute = [](const Compute& compute) { return compute.output->dtype == DType::f64; };
  const bool has_doubles =
      std::ranges::any_of(dag.inputs, of_input) || std::ranges::any_of(dag.computes, of_compute);
  return has_doubles && std::ranges::all_of(dag.computes, is_double);
}

}  // namespace

double longest_sum(const Dag& dag) {
  double longest = 1;
  for (const Compute& compute : dag.computes) {
    double reduction = 1;
    for (size_t r = compute.spatial_count(); r < compute.axes.size(); ++r)
      reduction *= static_cast<double>(compute.axes[r].extent);
    longest = std::max({longest, reduction, additions_of(compute.body)});
  }
  return longest;
}

double relative_tolerance(const Dag& dag, const Trace& trace) {
  // Of a sum in double, to that in float; the reference, which is in double too, is off as far.
  constexpr double kDoubleTolerance = 0x1p-28;
  double tolerance = 2e-6 + 4e-7 * std::sqrt(longest_sum(dag));
  if (is_in_double(dag)) tolerance *= kDoubleTolerance;
  // What was about to be rounded either way may come to either neighbour.
  for (const Compute& compute : dag.computes)
    if (is_storage_only(compute.output->dtype)) tolerance += epsilon_of(compute.output->dtype);
  for (const Step& step : trace) {
    const RewriteStep* rewrite = std::get_if<RewriteStep>(&step);
    if (rewrite == nullptr) continue;
    const RewriteRule* const rule = find_rule(rewrite->rule);
    if (rule != nullptr) tolerance *= rule->rounding;
  }
  return tolerance;
}

}  // namespace lathe
