#include "tune/sensitivity.h"

#include <algorithm>
#include <cmath>

#include "expr/walk.h"
#include "tune/problem.h"

namespace lathe {
namespace {

// Calls `is_such` with the expressions of all bodies, until one is.
template <class Predicate>
bool any_expression(const Dag& dag, const Predicate& is_such) {
  bool found = false;
  for (const Compute& compute : dag.computes)
    for_each(compute.body, [&](const Expr& e) { found = found || is_such(e); });
  return found;
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
  return any_expression(dag, [](const Expr& e) {
    if (!is_float(e.type().dtype)) return false;
    if (const Binary* binary = e.as<Binary>()) {
      const bool is_quotient = binary->op == BinaryOp::div && binary->b.as<Literal>() == nullptr;
      return is_quotient || binary->op == BinaryOp::pow;
    }
    const Unary* unary = e.as<Unary>();
    return unary != nullptr && (unary->op == UnaryOp::log || unary->op == UnaryOp::sqrt);
  });
}

bool has_steps(const Dag& dag) {
  return any_expression(dag, [](const Expr& e) {
    if (const Binary* binary = e.as<Binary>()) {
      const bool is_step = binary->op == BinaryOp::mod || e.type().dtype == DType::boolean;
      return is_step && is_float(binary->a.type().dtype);
    }
    if (const Cast* cast = e.as<Cast>())
      return is_float(cast->operand.type().dtype) && !is_float(e.type().dtype);
    const Unary* unary = e.as<Unary>();
    return unary != nullptr &&
           (unary->op == UnaryOp::floor || unary->op == UnaryOp::exponent || unary->op == UnaryOp::mantissa);
  });
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
    double& slack = reference.slack[i];
    if (!(motion <= slack) && !std::isnan(slack)) slack = motion;  // no number at last where it once was none
  }
}

void finish_slack(const Dag& dag, Reference& reference) {
  constexpr double kOrdinary = 16;  // times the share by which the inputs moved
  constexpr double kFurther = 8;
  const double typical = median_magnitude(reference.tensor->dtype, reference.expected);
  for (size_t i = 0; i < reference.slack.size(); ++i) {
    const double expected = std::abs(reference.expected[i]);
    const double ordinary = kOrdinary * relative_tolerance(dag, {}) * std::max(expected, typical);
    const bool is_ordinary = std::isfinite(expected) && reference.slack[i] <= ordinary;
    reference.slack[i] *= is_ordinary ? 0 : kFurther;
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
