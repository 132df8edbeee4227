#include "tune/draw_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "expr/index_limit.h"
#include "expr/walk.h"
#include "loop/evaluate.h"
#include "tune/sensitivity.h"
#include "tune/term_squares.h"

namespace lathe {
namespace {

constexpr uint64_t kSeeds = 4;
// Of magnitudes, one after another; powers of two, so that the drawn numbers stay what the type holds.
constexpr double kNextScale = 1.0 / 4;
constexpr int kScales = 7;  // 1 .. 1/4096

// How the same random numbers become inputs.
struct Way {
  std::vector<bool> positive;  // by input
  double scale = 1;
};

// Which inputs are drawn positive: none, then those beneath poles, then all; each once.
std::vector<std::vector<bool>> signs_to_try(const Dag& dag) {
  const std::vector<bool> none(dag.inputs.size(), false);
  const std::vector<bool> all(dag.inputs.size(), true);
  const std::vector<bool> some = inputs_beneath_poles(dag);
  if (some == none || some == all) return {none, all};
  return {none, some, all};
}

// No positive one is so small that its reciprocal outweighs all other elements.
constexpr double kLeastPositive = 1.0 / 1024;
// As many values of an integer are left, whatever the scale.
constexpr double kFewestIntegers = 128;

// Integers begin with more digits than floats, and lose them faster.
Interval scaled(Interval values, double scale) {
  const double width = static_cast<double>(values.hi) - static_cast<double>(values.lo);
  if (scale == 1 || width <= kFewestIntegers) return values;
  return {values.lo,
          values.lo + static_cast<int64_t>(std::max(std::floor(width * scale * scale), kFewestIntegers))};
}

// So many elements are drawn before it is asked whether to go on: some tens of milliseconds.
constexpr size_t kDrawnAtOnce = size_t{1} << 20;

Result<std::vector<HostTensor>> draw_inputs(const Dag& dag, Rng& rng, const Way& way, const Watch& watch) {
  std::vector<HostTensor> inputs;
  const std::vector<Interval> indices = index_values(dag);
  const bool has_tensors =
      std::ranges::any_of(dag.inputs, [](const Tensor& input) { return input.elements() > 1; });
  for (const Tensor& input : dag.inputs) {
    const bool is_positive = way.positive[inputs.size()];
    const bool is_factor = input.elements() == 1 && has_tensors;
    const Interval integers = scaled(indices[inputs.size()], way.scale);
    HostTensor& drawn = inputs.emplace_back(zeros_like(input));
    std::span<double> left = drawn.values;
    while (!left.empty()) {
      if (watch.is_over()) return fail(ErrorKind::timeout, "there was no time left to draw inputs");
      const std::span<double> part = left.first(std::min(left.size(), kDrawnAtOnce));
      left = left.subspan(part.size());
      draw_within(part, drawn.dtype, rng, integers);
      if (!is_float(drawn.dtype)) continue;
      for (double& value : part) {
        if (is_positive) value = std::max(std::abs(value), kLeastPositive);
        if (is_factor) value = round_to(drawn.dtype, 1 + value / 2);
        value = round_to(drawn.dtype, value * way.scale);
      }
    }
  }
  return inputs;
}

// Of more values one at least is as large as its terms.
constexpr size_t kFewValues = 8;
constexpr double kNudge = 0x1p-22;  // some roundings of f32
constexpr double kDoublesShare = 0x1p-29;

// As an output of few elements has, or one that repeats them. Integers are looked at one by one.
bool has_few_values(const Reference& reference) {
  if (!is_float(reference.tensor->dtype)) return false;
  const std::set<double> values(reference.expected.begin(), reference.expected.end());
  return values.size() <= kFewValues;
}

// Whether outputs stay where they are when the inputs move by a rounding. Those of few values need not:
// where large terms happen to cancel, what rounding leaves of the result is no fault of the program. Nor need
// those of a function with poles.
Result<bool> is_steady(const Dag& dag, const DrawnData& drawn, uint64_t seed) {
  const bool all = has_poles(dag);
  if (!all && std::ranges::none_of(drawn.references, has_few_values)) return true;
  Rng rng = Rng(seed).split();  // not the signs of the data
  const double by = is_in_double(dag) ? kNudge * kDoublesShare : kNudge;
  LATHE_TRY(Evaluator evaluator, Evaluator::create(dag, nudged(drawn.inputs, rng, by)));
  const double allowed = relative_tolerance(dag, {}) / 2;
  for (const Reference& reference : drawn.references) {
    if (!is_float(reference.tensor->dtype) || (!all && !has_few_values(reference))) continue;
    const double magnitude = magnitude_of(reference.tensor->dtype, reference.expected);
    for (size_t i = 0; i < reference.positions.size(); ++i) {
      if (!is_representable(reference.tensor->dtype, reference.expected[i])) continue;
      const double expected = reference.expected[i];
      const double moved = evaluator.at(reference.tensor, reference.positions[i]) - expected;
      if (!(std::abs(moved) <= allowed * std::max(std::abs(expected), magnitude))) return false;
    }
  }
  return true;
}

// A change of all floats by a share that is small changes outputs by some times that share at most; of a
// steep function, as the exponential of large numbers is, what rounding does to its operand would be called
// wrong.
constexpr double kSmallShare = 0x1p-10;
constexpr double kSteepest = 8;

Result<bool> is_steep(const Dag& dag, const DrawnData& drawn) {
  std::vector<HostTensor> moved = drawn.inputs;
  for (HostTensor& input : moved) {
    if (!is_float(input.dtype)) continue;
    for (double& value : input.values) value *= 1 + kSmallShare;
  }
  LATHE_TRY(Evaluator evaluator, Evaluator::create(dag, moved));
  for (const Reference& reference : drawn.references) {
    const DType dtype = reference.tensor->dtype;
    if (!is_float(dtype)) continue;
    const double magnitude = magnitude_of(dtype, reference.expected);
    for (size_t i = 0; i < reference.positions.size(); ++i) {
      if (!is_representable(dtype, reference.expected[i])) continue;
      const double expected = reference.expected[i];
      const double change = evaluator.at(reference.tensor, reference.positions[i]) - expected;
      const double allowed = kSteepest * kSmallShare * std::max(std::abs(expected), magnitude);
      if (!(std::abs(change) <= allowed)) return true;
    }
  }
  return false;
}

Status note_cancellations(const Dag& dag, const std::vector<HostTensor>& inputs,
                          std::vector<Reference>& references) {
  const Dag terms = term_squares(dag);
  LATHE_TRY(Evaluator evaluator, Evaluator::create(terms, inputs));
  auto output = terms.outputs.begin();
  for (Reference& reference : references) {
    if (!is_float(reference.tensor->dtype)) continue;
    std::vector<double> squares;
    for (const int64_t position : reference.positions) squares.push_back(evaluator.at(*output, position));
    note_cancellation(reference, squares);
    ++output;
  }
  return {};
}

// Of floats only outputs that hold many, or whose terms cancel.
Status learn_sensitivity(const Dag& dag, const std::vector<HostTensor>& inputs,
                         std::vector<Reference>& references, bool of_floats, double tolerance) {
  // What a jump leaves of large numbers is noise.
  if (of_floats && !has_jumps(dag)) LATHE_TRY_STATUS(note_cancellations(dag, inputs, references));
  const auto neighbours = [&](const Reference& reference) {
    if (!is_float(reference.tensor->dtype)) return may_hang_on_rounding(dag) ? kIntegerNeighbours : 0;
    const bool is_told = has_few_values(reference) && reference.cancelled.empty();
    return !of_floats || is_told ? 0 : kFloatNeighbours;
  };
  for (int number = 0; number < kFloatNeighbours; ++number) {
    const auto is_open = [&](const Reference& reference) { return number < neighbours(reference); };
    if (std::ranges::none_of(references, is_open)) break;
    LATHE_TRY(Evaluator evaluator,
              Evaluator::create(neighbour_of(dag, references, number), neighbours_of(dag, inputs, number)));
    for (Reference& reference : references) {
      if (!is_open(reference)) continue;
      std::vector<double> moved;
      for (const int64_t position : reference.positions)
        moved.push_back(evaluator.at(reference.tensor, position));
      add_neighbour(reference, moved);
    }
  }
  if (!of_floats) return {};
  for (Reference& reference : references) finish_slack(dag, reference, tolerance);
  return {};
}

// What was drawn, and how good it is to compare with.
struct Attempt {
  DrawnData data;
  Excess excess;
  std::string fault;   // why it cannot be compared; empty: it can
  bool steep = false;  // looked at where inputs have shrunk: the others are what they have always been
};

// Of an output's points as many must be numbers: a mask may make most of it infinite, which is compared too.
constexpr double kLeastHeldShare = 1.0 / 32;

std::string fault_of(const Reference& reference, const Excess& excess) {
  const DType dtype = reference.tensor->dtype;
  const std::string& name = reference.tensor->name;
  const auto points = static_cast<double>(reference.positions.size());
  const bool is_unknown =
      std::ranges::any_of(reference.expected, [](double value) { return std::isnan(value); });
  const auto held =
      std::ranges::count_if(reference.expected, [&](double value) { return is_representable(dtype, value); });
  if (is_unknown || static_cast<double>(held) < kLeastHeldShare * points) {
    return fmt::format("output '{}' is infinite or no number for random inputs: programs cannot be compared",
                       name);
  }
  if (!is_float(dtype) && excess.of_integers) {
    return fmt::format("output '{}' follows from integers beyond 2^53: programs cannot be compared", name);
  }
  if (hangs_on_rounding(reference)) {
    return fmt::format(
        "output '{}' hangs on how the floats that it follows from are rounded: programs cannot be compared",
        name);
  }
  return {};
}

double tolerance_of(const Dag& dag, const ProblemOptions& options) {
  return options.tolerance ? *options.tolerance : relative_tolerance(dag, {});
}

Result<Attempt> attempt(const Dag& dag, const ProblemOptions& options, uint64_t seed, const Way& way,
                        const Watch& watch) {
  Rng rng(seed);
  Attempt made;
  LATHE_TRY(made.data.inputs, draw_inputs(dag, rng, way, watch));
  LATHE_TRY(Evaluator evaluator, Evaluator::create(dag, made.data.inputs));
  for (const Tensor& output : dag.outputs) {
    Reference reference{output, points_to_check(output->shape, options.sampled_points, rng), {}};
    for (const int64_t position : reference.positions)
      reference.expected.push_back(evaluator.at(output, position));
    reference.terms = longest_sum(dag);
    made.data.references.push_back(std::move(reference));
  }
  made.excess = evaluator.excess();
  LATHE_TRY(made.data.steady, is_steady(dag, made.data, seed));
  LATHE_TRY_STATUS(learn_sensitivity(dag, made.data.inputs, made.data.references,
                                     !made.data.steady && !has_jumps(dag), tolerance_of(dag, options)));
  for (const Reference& reference : made.data.references) {
    if (made.fault.empty()) made.fault = fault_of(reference, made.excess);
  }
  if (made.fault.empty() && way.scale < 1) {
    LATHE_TRY(made.steep, is_steep(dag, made.data));
  }
  return made;
}

bool goes_beyond(const Attempt& made) {
  return made.excess.of_floats || made.excess.of_integers || made.excess.saturates;
}

// The higher the better; what some value goes beyond is compared where there is nothing else.
int rank_of(const Attempt& made) {
  return (goes_beyond(made) ? 0 : made.steep ? 2 : 4) + (made.data.steady ? 1 : 0);
}
constexpr int kBestRank = 5;

}  // namespace

Result<DrawnData> draw_data(const Dag& dag, const ProblemOptions& options, const Watch& watch) {
  std::optional<Attempt> best;
  std::string fault;
  for (const std::vector<bool>& positive : signs_to_try(dag)) {
    bool is_too_large = true;
    double scale = 1;
    for (int tried = 0; tried < kScales && is_too_large; ++tried, scale *= kNextScale) {
      bool is_usable = true;
      bool is_steady = false;
      for (uint64_t seed = options.seed; seed < options.seed + kSeeds && is_usable && !is_steady; ++seed) {
        LATHE_TRY(Attempt made, attempt(dag, options, seed, {positive, scale}, watch));
        is_too_large = goes_beyond(made) || made.steep;
        is_usable = made.fault.empty();
        is_steady = made.data.steady;
        if (!is_usable) fault = made.fault;
        if (is_usable && (!best || rank_of(made) > rank_of(*best))) best = std::move(made);
      }
    }
    if (best && rank_of(*best) == kBestRank) break;
  }
  if (best && has_jumps(dag)) {
    LATHE_TRY_STATUS(
        learn_sensitivity(dag, best->data.inputs, best->data.references, true, tolerance_of(dag, options)));
    for (const Reference& reference : best->data.references) {
      fault = fault_of(reference, best->excess);
      if (!fault.empty()) return fail(ErrorKind::unsupported, fault);
    }
  }
  if (!best) return fail(ErrorKind::unsupported, fault);
  return std::move(best->data);
}

Status learn_slack(const Dag& dag, const std::vector<HostTensor>& inputs, std::vector<Reference>& references,
                   double tolerance) {
  LATHE_TRY_STATUS(learn_sensitivity(dag, inputs, references, true, tolerance));
  for (Reference& reference : references) forget_what_says_little(reference);
  return {};
}

bool is_in_double(const Dag& dag) {
  const auto is_double = [](const Compute& compute) {
    bool found = compute.output->dtype != DType::f32 || !accumulates(compute.reduction);
    for_each(compute.body, [&](const Expr& e) {
      const bool computes = e.as<Unary>() != nullptr || e.as<Binary>() != nullptr || e.as<Cast>() != nullptr;
      if (computes && e.type().dtype == DType::f32) found = false;
    });
    return found;
  };
  const auto of_input = [](const Tensor& input) { return input->dtype == DType::f64; };
  const auto of_compute = [](const Compute& compute) { return compute.output->dtype == DType::f64; };
  const bool has_doubles =
      std::ranges::any_of(dag.inputs, of_input) || std::ranges::any_of(dag.computes, of_compute);
  return has_doubles && std::ranges::all_of(dag.computes, is_double);
}

}  // namespace lathe
