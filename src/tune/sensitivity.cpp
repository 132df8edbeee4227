#include "tune/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>

#include "expr/walk.h"
#include "tune/problem.h"
#include "tune/roundings.h"

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
      return (binary->op == BinaryOp::mod && is_float(binary->a.type().dtype)) ||
             binary->op == BinaryOp::copy_sign;
    if (const Cast* cast = e.as<Cast>())
      return is_float(cast->operand.type().dtype) && !is_float(e.type().dtype);
    const Unary* unary = e.as<Unary>();
    return unary != nullptr && (unary->op == UnaryOp::floor || unary->op == UnaryOp::ceil ||
                                unary->op == UnaryOp::round || unary->op == UnaryOp::truncate ||
                                unary->op == UnaryOp::exponent || unary->op == UnaryOp::mantissa);
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
  // A stream of their own: signs that followed those of the data would move all terms of a sum one way.
  Rng rng = Rng(static_cast<uint64_t>(number / 2)).split();
  const double by = relative_tolerance(dag, {});
  return nudged(std::move(inputs), rng, number % 2 == 0 ? by : -by);
}

Dag neighbour_of(const Dag& dag, std::span<const Reference> references, int number) {
  const auto cancels = [](const Reference& reference) { return !reference.cancelled.empty(); };
  return std::ranges::any_of(references, cancels) ? with_roundings(dag, number) : dag;
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

namespace {

// What is left of terms that cancel moves by chance, some elements by next to nothing: those that move at all
// take part in what most do by the size of their terms.
void even_out(Reference& reference) {
  std::vector<double> shares;
  for (size_t i = 0; i < reference.cancelled.size(); ++i) {
    if (reference.cancelled[i] > 0 && reference.slack[i] > 0)
      shares.push_back(reference.slack[i] / reference.cancelled[i]);
  }
  if (shares.empty()) return;
  const auto middle = shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 2);
  std::ranges::nth_element(shares, middle);
  for (size_t i = 0; i < reference.cancelled.size(); ++i) {
    if (reference.slack[i] > 0)
      reference.slack[i] = std::max(reference.slack[i], *middle * reference.cancelled[i]);
  }
}

}  // namespace

void finish_slack(const Dag& dag, Reference& reference, double tolerance) {
  even_out(reference);
  // Times the share by which the inputs moved: of a continuous function a program's own roundings are a small
  // part of that; of one that jumps they may do as much as a neighbour's.
  const double ordinary = has_jumps(dag) ? 0.5 : 16;
  constexpr double kFurther = 8;
  // By no more than what the comparison measures by.
  const DType dtype = reference.tensor->dtype;
  const double typical =
      std::min(median_magnitude(dtype, reference.expected), magnitude_of(dtype, reference.expected, kMost));
  const double share = ordinary * relative_tolerance(dag, {});
  const double most = tolerance * largest_magnitude(dtype, reference.expected);
  const auto cancels = [&](size_t i) { return !reference.cancelled.empty() && reference.cancelled[i] > 0; };
  for (size_t i = 0; i < reference.slack.size(); ++i) {
    const double expected = std::abs(reference.expected[i]);
    const bool is_ordinary =
        !cancels(i) && std::isfinite(expected) && reference.slack[i] <= share * std::max(expected, typical);
    reference.slack[i] *= kFurther;
    if (is_ordinary) reference.slack[i] = std::min(reference.slack[i], most);
  }
}

void note_cancellation(Reference& reference, std::span<const double> squares) {
  constexpr double kNextToNothing = 1.0 / 16;
  const double largest = largest_magnitude(reference.tensor->dtype, reference.expected);
  std::vector<double> cancelled;
  for (size_t i = 0; i < squares.size(); ++i) {
    const double terms = std::sqrt(squares[i]);
    const double compared_by = std::max(largest, std::abs(reference.expected[i]));
    cancelled.push_back(std::isfinite(terms) && compared_by < kNextToNothing * terms ? terms : 0);
  }
  if (std::ranges::count(cancelled, 0.0) < std::ssize(cancelled)) reference.cancelled = std::move(cancelled);
}

bool hangs_on_rounding(const Reference& reference) {
  constexpr double kLeastDecidedShare = 0.5;
  constexpr double kMostSlack = 1.0 / 16;  // of the element itself, or of what cancels in it
  auto open = std::ranges::count(reference.undecided, true);
  for (size_t i = 0; i < reference.slack.size(); ++i) {
    const double terms = reference.cancelled.empty() ? 0 : reference.cancelled[i];
    const double size = std::max(std::abs(reference.expected[i]), terms);
    const bool is_told = reference.slack[i] == 0 || reference.slack[i] <= kMostSlack * size;
    if (!is_told) ++open;
  }
  return static_cast<double>(open) >
         (1 - kLeastDecidedShare) * static_cast<double>(reference.expected.size());
}

void forget_what_says_little(Reference& reference) {
  if (hangs_on_rounding(reference)) reference.slack.clear();
}

}  // namespace lathe
