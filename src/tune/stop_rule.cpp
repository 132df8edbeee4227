#include "tune/stop_rule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "expr/walk.h"
#include "intrinsics/intrinsic.h"

namespace lathe {
namespace {

bool has_condition(const Expr& body) {
  bool found = false;
  for_each(body, [&](const Expr& e) { found = found || e.as<Select>() != nullptr; });
  return found;
}

// Whether every element is read, as far as a plain look tells: a window, a shift or a condition may leave
// some out.
bool is_read_whole(const Dag& dag, const Tensor& tensor) {
  const auto reads_all = [&](const Compute& compute, const Load& load) {
    if (!(load.tensor == tensor)) return false;
    for (size_t d = 0; d < load.index.size(); ++d) {
      const std::optional<Var> var = load.index[d].as_var();
      const auto axis = std::ranges::find_if(
          compute.axes, [&](const Axis& candidate) { return var && candidate.var == *var; });
      if (axis == compute.axes.end() || axis->extent != tensor->shape[d]) return false;
    }
    return true;
  };
  return std::ranges::any_of(dag.computes, [&](const Compute& compute) {
    if (has_condition(compute.body)) return false;
    return std::ranges::any_of(loads_of(compute.body),
                               [&](const Load* load) { return reads_all(compute, *load); });
  });
}

// What must come from memory at least each time that the task runs.
double bytes_from_memory(const Task& task) {
  double bytes = task.runs_cold ? 0 : -static_cast<double>(last_cache_bytes(task.target));
  for (const Argument& argument : task.arguments) {
    const Tensor& tensor = argument.tensor;
    const bool may_be_cached = task.runs_cold && !argument.is_constant && !argument.is_output;
    if (!may_be_cached && (argument.is_output || is_read_whole(task.dag, tensor)))
      bytes += static_cast<double>(tensor.elements() * bytes_of(tensor->dtype));
  }
  return std::max(bytes, 0.0);
}

// How many multiply-adds of a product take the place of one in single precision, at most.
double most_at_once(const Task& task) {
  int most = 1;
  for (const Compute& compute : task.dag.computes) {
    for (const Intrinsic& intrinsic : intrinsics()) {
      if (compute.reduction == Reduction::sum && has_intrinsic(task.target, intrinsic) &&
          match_factors(intrinsic, compute.body))
        most = std::max(most, intrinsic.group);
    }
  }
  return most;
}

}  // namespace

double least_seconds(const Task& task, const Space& space, std::span<const Trial> trials,
                     const Peaks& peaks) {
  constexpr int kSeveral = 4;
  constexpr double kClearlyLonger = 1.25;
  struct Tried {
    int trials = 0;
    double best = std::numeric_limits<double>::infinity();
  };
  std::vector<Tried> tried(space.sketches().size());
  double best = std::numeric_limits<double>::infinity();
  for (const Trial& trial : trials) {
    if (std::isinf(trial.seconds)) continue;
    Tried& sketch = tried[static_cast<size_t>(trial.point.sketch)];
    ++sketch.trials;
    sketch.best = std::min(sketch.best, trial.seconds);
    best = std::min(best, trial.seconds);
  }
  double operations = std::numeric_limits<double>::infinity();
  for (size_t s = 0; s < tried.size(); ++s) {
    if (tried[s].trials >= kSeveral && tried[s].best > kClearlyLonger * best) continue;
    operations = std::min(operations, space.sketches()[s].operations);
  }
  return std::max(operations / most_at_once(task) / peaks.gflops, bytes_from_memory(task) / peaks.gigabytes) *
         1e-9;
}

bool StopRule::measure() {
  const Result<Peaks> now = measure_();
  if (!now) return false;
  peaks_.gflops = std::max(peaks_.gflops, now->gflops);
  peaks_.gigabytes = std::max(peaks_.gigabytes, now->gigabytes);
  return true;
}

std::optional<double> StopRule::reached(double best_seconds,
                                        const std::function<double(const Peaks&)>& least) {
  if (share_ == 0 || best_seconds == 0) return std::nullopt;
  if (peaks_.gflops == 0 && !measure()) return std::nullopt;
  if (least(peaks_) < share_ * best_seconds || !measure()) return std::nullopt;
  // What is clearly faster than the peaks allow tells that they are wrong.
  constexpr double kMost = 1.02;
  const double share = least(peaks_) / best_seconds;
  return share < share_ || share > kMost ? std::nullopt : std::optional(share);
}

}  // namespace lathe
