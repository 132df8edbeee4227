#include "tune/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>

#include "expr/walk.h"
#include "tune/problem.h"

namespace lathe {
namespace {

// Whether `is_such` says so of some expression of the bodies.
template <class Predicate>
bool any_expression(const Dag& dag, const Predicate& is_such) {
  bool found = false;
  for (const Compute& compute : dag.computes)
    for_each(compute.body, [&](const Expr& e) { found = found || is_such(e); });
  return found;
}

// The operand near whose zero the expression has no bound or no value; none where it has both everywhere.
Expr pole_operand(const Expr& e) {
  if (!is_float(e.type().dtype)) return {};
  if (const Binary* binary = e.as<Binary>()) {
    if (binary->op == BinaryOp::pow) return binary->a;
    return binary->op == BinaryOp::div && binary->b.as<Literal>() == nullptr ? binary->b : Expr();
  }
  const Unary* unary = e.as<Unary>();
  const bool is_pole = unary != nullptr && (unary->op == UnaryOp::log || unary->op == UnaryOp::sqrt);
  return is_pole ? unary->operand : Expr();
}

// Of those that are numbers, and none of the zeros of which rectifiers and masks leave many.
double median_magnitude(DType dtype, std::span<const double> values) {
  std::vector<double> magnitudes;
  for (const double value : values) {
    if (value != 0 && is_representable(dtype, value)) magnitudes.push_back(std::abs(value));
  }
  if (magnitudes.empty()) return 0;
  const auto middle = magnitudes.begin() + static_cast<std::ptrdiff_t>(magnitudes.size() / 2);
  std::ranges::nth_element(magnitudes, middle);
  return *middle;
}

}  // namespace

bool has_poles(const Dag& dag) {
  return any_expression(dag, [](const Expr& e) { return pole_operand(e).defined(); });
}

std::vector<bool> inputs_beneath_poles(const Dag& dag) {
  std::set<const TensorNode*> beneath;
  for (const Compute& compute : dag.computes | std::views::reverse) {
    const auto add_loads_of = [&](const Expr& e) {
      for (const Load* load : loads_of(e)) beneath.insert(load->tensor.get());
    };
    if (beneath.contains(compute.output.get())) add_loads_of(compute.body);
    for_each(compute.body, [&](const Expr& e) {
      if (const Expr operand = pole_operand(e); operand.defined()) add_loads_of(operand);
    });
  }
  std::vector<bool> found;
  for (const Tensor& input : dag.inputs) found.push_back(beneath.contains(input.get()));
  return found;
}

bool has_jumps(const Dag& dag) {
  return any_expression(dag, [](const Expr& e) {
    if (const Binary* binary = e.as<Binary>())
      return binary->op == BinaryOp::mod && is_float(binary->a.type().dtype);
    if (const Cast* cast = e.as<Cast>())
      return is_float(cast->operand.type().dtype) && !is_float(e.type().dtype);
    const Unary* unary = e.as<Unary>();
    return unary != nullptr &&
           (unary->op == UnaryOp::floor || unary->op == UnaryOp::exponent || unary->op == UnaryOp::mantissa);
  });
}

bool has_steps(const Dag& dag) {
  const auto compares_floats = [](const Expr& e) {
    const Binary* binary = e.as<Binary>();
    return binary != nullptr && e.type().dtype == DType::boolean && is_float(binary->a.type().dtype);
  };
  return has_jumps(dag) || any_expression(dag, compares_floats);
}

bool may_hang_on_rounding(const Dag& dag) {
  const auto is_of_floats = [](const Tensor& tensor) { return is_float(tensor->dtype); };
  return std::ranges::any_of(dag.inputs, is_of_floats) && !std::ranges::all_of(dag.outputs, is_of_floats);
}

std::vector<HostTensor> nudged(std::vector<HostTensor> inputs, Rng& rng, double by) {
  for (HostTensor& input : inputs) {
    if (!is_float(input.dtype)) continue;
    for (double& value : input.values) value *= rng.chance(0.5) ? 1 + by : 1 - by;
  }
  return inputs;
}

std::vector<HostTensor> neighbours_of(const Dag& dag, std::vector<HostTensor> inputs, int number) {
  Rng rng(static_cast<uint64_t>(number / 2));
  const double by = relative_tolerance(dag, {});
  return nudged(std::move(inputs), rng, number % 2 == 0 ? by : -by);
}

void add_neighbour(Reference& reference, std::span<const double> moved) {
  const bool is_of_floats = is_float(reference.tensor->dtype);
  reference.slack.resize(is_of_floats ? moved.size() : 0);
  reference.undecided.resize(is_of_floats ? 0 : moved.size());
  for (size_t i = 0; i < moved.size(); ++i) {
    if (moved[i] == reference.expected[i]) continue;
    if (!is_of_floats) {
      reference.undecided[i] = true;
      continue;
    }
    const double motion = std::abs(moved[i] - reference.expected[i]);
    reference.slack[i] = std::max(reference.slack[i], std::isnan(motion) ? INFINITY : motion);
  }
}

void finish_slack(const Dag& dag, Reference& reference) {
  constexpr double kOrdinary = 16;  // times the share by which the inputs moved
  constexpr double kFurther = 8;
  const double typical = median_magnitude(reference.tensor->dtype, reference.expected);
  const double share = kOrdinary * relative_tolerance(dag, {});
  for (size_t i = 0; i < reference.slack.size(); ++i) {
    const double expected = std::abs(reference.expected[i]);
    const bool is_ordinary =
        std::isfinite(expected) && reference.slack[i] <= share * std::max(expected, typical);
    reference.slack[i] = is_ordinary ? 0 : kFurther * reference.slack[i];
  }
}

bool hangs_on_rounding(const Reference& reference) {
  constexpr double kLeastDecidedShare = 0.5;
  constexpr double kMostSlack = 1.0 / 16;  // of the element itself
  auto open = std::ranges::count(reference.undecided, true);
  for (size_t i = 0; i < reference.slack.size(); ++i) {
    const bool is_told =
        reference.slack[i] == 0 || reference.slack[i] <= kMostSlack * std::abs(reference.expected[i]);
    if (!is_told) ++open;
  }
  return static_cast<double>(open) >
         (1 - kLeastDecidedShare) * static_cast<double>(reference.expected.size());
}

}  // namespace lathe
