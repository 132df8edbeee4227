#include "check/draw_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include "check/error_bound.h"
#include "check/tolerance.h"
#include "expr/index_limit.h"
#include "loop/evaluate.h"
#include "measure/time_bounds.h"
#include "measure/timing.h"

namespace lathe {
namespace {

constexpr uint64_t kSeeds = 4;
// How much smaller numbers are drawn the next time, where they were too large; a power of two, so that they
// stay what the type holds.
constexpr double kNextScale = 1.0 / 4;
constexpr int kScales = 7;  // magnitudes that are tried at most

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

// Integers begin with more digits than floats, and lose them faster; those of both signs keep both.
Interval scaled(Interval values, double scale) {
  const double width = static_cast<double>(values.hi) - static_cast<double>(values.lo);
  if (scale == 1 || width <= kFewestIntegers) return values;
  const auto left = static_cast<int64_t>(std::max(std::floor(width * scale * scale), kFewestIntegers));
  const int64_t least = std::clamp(-(left / 2), values.lo, values.hi - left);
  return {least, least + left};
}

// So many elements are drawn before it is asked whether to go on: some tens of milliseconds.
constexpr size_t kDrawnAtOnce = size_t{1} << 20;
// Of elements to compare with, as operations_beneath counts them.
constexpr double kEvaluatedOperationsPerSecond = 3e8;

Result<std::vector<HostTensor>> draw_inputs(const Dag& dag, Rng& rng, const Way& way, const Watch& watch) {
  const double start = monotonic_seconds();
  const double expected = drawing_seconds(dag);
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
      if (watch.observer) watch.observer({"inputs are drawn", monotonic_seconds() - start, expected});
      const std::span<double> part = left.first(std::min(left.size(), kDrawnAtOnce));
      left = left.subspan(part.size());
      draw_within(part, drawn.dtype, rng, integers);
      if (!is_float(drawn.dtype)) continue;
      for (double& value : part) {
        if (is_positive) value = std::max(std::abs(value), kLeastPositive);
        if (is_factor) value = round_to(drawn.dtype, 1 + value / 2);
        value *= way.scale;
      }
      round_all(drawn.dtype, part);
    }
  }
  return inputs;
}

// The same watch, which is told every quarter of a second or so that the elements to compare with are
// computed.
Watch telling(const Watch& watch, double expected_seconds) {
  constexpr double kTellingSeconds = 0.25;
  if (!watch.observer) return watch;
  Watch told = watch;
  told.stop = [&watch, expected_seconds, start = monotonic_seconds(), last = 0.0]() mutable {
    const double spent = monotonic_seconds() - start;
    if (spent - last >= kTellingSeconds) {
      watch.observer({"elements to compare with are computed", spent, expected_seconds});
      last = spent;
    }
    return watch.stop && watch.stop();
  };
  return told;
}

// What was drawn, and how good it is to compare with.
struct Attempt {
  DrawnData data;
  Excess excess;
  std::string fault;       // why it cannot be compared; empty: it can
  bool tells_most = true;  // whether a mistake of a small share of an element shows nearly everywhere
};

// Of an output's points as many must be numbers: a mask may make most of it infinite, which is compared too.
constexpr double kLeastHeldShare = 1.0 / 32;
// The largest bound that an element may have to be compared with, and to tell of small mistakes, as a share
// of itself or of the inputs: where all that is added up cancels, roundings are all that is left, and what is
// far larger is wrong.
constexpr double kMostBound = 1.0 / 2;
constexpr double kSmallBound = 1.0 / 256;
constexpr double kLeastDecidedShare = 0.5;
constexpr double kMostShare = 15.0 / 16;

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
  return {};
}

// How many elements of each output an attempt at drawing looks at, which need not cost much; 0 where even one
// consists of too much, as where all places are compared with all others.
size_t looked_at_elements(const Dag& dag) {
  constexpr size_t kMostLookedAt = 128;
  constexpr double kMostOperations = 1e7;  // half a second
  for (size_t count = kMostLookedAt; count > 0; count /= 4)
    if (operations_beneath(dag, static_cast<double>(count)) <= kMostOperations) return count;
  return 0;
}

Status judge_bounds(const Reference& reference, ErrorBound& bound, size_t most, double scale,
                    const Watch& watch, Attempt& made) {
  const DType dtype = reference.tensor->dtype;
  const size_t step = (reference.positions.size() + most - 1) / most;
  double looked_at = 0;
  double decided = 0;
  double tells = 0;
  for (size_t i = 0; i < reference.positions.size(); i += step) {
    ++looked_at;
    LATHE_TRY(const Approximate element, bound.within(reference.tensor, reference.positions[i], watch));
    const double size = is_float(dtype) ? std::max(std::abs(element.value), scale) : 0;
    const bool is_held = is_representable(dtype, element.value);
    if (!is_held || element.error <= kMostBound * size) ++decided;
    if (!is_held || element.error <= kSmallBound * size) ++tells;
  }
  if (tells < kMostShare * looked_at) made.tells_most = false;
  if (decided >= kLeastDecidedShare * looked_at || !made.fault.empty()) return {};
  made.fault = fmt::format(
      "output '{}' hangs on how the floats that it follows from are rounded: programs cannot be compared",
      reference.tensor->name);
  return {};
}

Result<Attempt> attempt(const Dag& dag, int64_t sampled_points, uint64_t seed, const Way& way,
                        const Watch& watch) {
  Rng rng(seed);
  Attempt made;
  LATHE_TRY(made.data.inputs, draw_inputs(dag, rng, way, watch));
  LATHE_TRY(ElementEvaluator evaluator, ElementEvaluator::create(dag, made.data.inputs));
  const Watch told = telling(
      watch, operations_beneath(dag, static_cast<double>(sampled_points)) / kEvaluatedOperationsPerSecond);
  for (const Tensor& output : dag.outputs) {
    Reference reference{output, points_to_check(output->shape, sampled_points, rng), {}};
    for (const int64_t position : reference.positions) {
      LATHE_TRY(reference.expected.emplace_back(), evaluator.within(output, position, told));
    }
    reference.terms = longest_sum(dag);
    made.data.references.push_back(std::move(reference));
  }
  made.excess = evaluator.excess();
  for (const Reference& reference : made.data.references)
    if (made.fault.empty()) made.fault = fault_of(reference, made.excess);
  if (!made.fault.empty() || (way.scale == 1 && !is_sensitive(dag))) return made;
  const size_t most = looked_at_elements(dag);
  if (most == 0) return made;
  ErrorBound bound(dag, made.data.inputs);
  for (const Reference& reference : made.data.references)
    LATHE_TRY_STATUS(judge_bounds(reference, bound, most, way.scale, watch, made));
  return made;
}

// What is rounded to integers of 8 bits behind a rectifier is 0 for half of random sums, and the type's
// largest for some: as much of it may saturate, and there is still enough to compare.
constexpr double kMostSaturatedShare = 3.0 / 4;

bool saturates(const Excess& excess) {
  return static_cast<double>(excess.saturated) > kMostSaturatedShare * static_cast<double>(excess.converted);
}

bool goes_beyond(const Attempt& made) {
  return made.excess.of_floats || made.excess.of_integers || saturates(made.excess);
}

// What the next scale is of the last one. Where numbers saturate, a sum's factors are too large by as many
// powers of two as lie between it and what the type holds; it shall be well within.
double next_scale(const Excess& excess) {
  if (!saturates(excess)) return kNextScale;
  const double mean = excess.powers_beyond / static_cast<double>(excess.saturated);
  return kNextScale * std::exp2(-std::ceil(mean));
}

// The higher the better; what some value goes beyond is compared where there is nothing else.
int rank_of(const Attempt& made) { return (goes_beyond(made) ? 0 : 2) + (made.tells_most ? 1 : 0); }
constexpr int kBestRank = 3;

}  // namespace

Result<DrawnData> draw_data(const Dag& dag, uint64_t seed, int64_t sampled_points, const Watch& watch) {
  std::optional<Attempt> best;
  std::string fault;
  for (const std::vector<bool>& positive : signs_to_try(dag)) {
    bool is_too_large = true;
    double scale = 1;
    double smaller = 1;
    for (int tried = 0; tried < kScales && is_too_large; ++tried, scale *= smaller) {
      bool is_usable = true;
      bool tells_most = false;
      for (uint64_t next = seed; next < seed + kSeeds && is_usable && !tells_most; ++next) {
        LATHE_TRY(Attempt made, attempt(dag, sampled_points, next, {positive, scale}, watch));
        tells_most = made.tells_most;
        // What was too large as it was may still be where a function is steep.
        is_too_large = goes_beyond(made) || (scale < 1 && !tells_most);
        smaller = next_scale(made.excess);
        is_usable = made.fault.empty();
        if (!is_usable) fault = made.fault;
        if (is_usable && (!best || rank_of(made) > rank_of(*best))) best = std::move(made);
      }
    }
    if (best && rank_of(*best) == kBestRank) break;
  }
  if (!best) return fail(ErrorKind::unsupported, fault);
  return std::move(best->data);
}

std::vector<int64_t> points_to_check(const std::vector<int64_t>& shape, int64_t count, Rng& rng) {
  const int64_t elements = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  std::vector<int64_t> positions;
  if (elements <= count) {
    positions.resize(static_cast<size_t>(elements));
    std::iota(positions.begin(), positions.end(), 0);
    return positions;
  }
  // A third of the points have some coordinates pushed to an edge, where tiles end.
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = 0;
    for (int64_t extent : shape) {
      int64_t coordinate = rng.between(0, extent - 1);
      if (i % 3 == 0 && rng.chance(0.5))
        coordinate = rng.chance(0.5) ? 0 : extent - 1 - rng.between(0, std::min<int64_t>(extent - 1, 2));
      position = position * extent + coordinate;
    }
    positions.push_back(position);
  }
  for (uint64_t corner = 0; corner < (uint64_t{1} << std::min<size_t>(shape.size(), 6)); ++corner) {
    int64_t position = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      position = position * shape[d] + ((corner >> d) % 2 != 0 ? shape[d] - 1 : 0);
    }
    positions.push_back(position);
  }
  std::ranges::sort(positions);
  positions.erase(std::ranges::unique(positions).begin(), positions.end());
  return positions;
}

}  // namespace lathe
