#include "tune/stop_rule.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace lathe {
namespace {

// What must come from memory at least each time that the task runs.
double bytes_from_memory(const Task& task) {
  if (!task.runs_cold) return std::max(0.0, static_cast<double>(bytes_of(task.dag) - task.target.l3.bytes));
  double bytes = 0;
  for (const Argument& argument : task.arguments) {
    const Tensor& tensor = argument.tensor;
    if (argument.is_constant || argument.is_output)
      bytes += static_cast<double>(tensor.elements() * bytes_of(tensor->dtype));
  }
  return bytes;
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
  return std::max(operations / peaks.gflops, bytes_from_memory(task) / peaks.gigabytes) * 1e-9;
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
  const double share = least(peaks_) / best_seconds;
  return share < share_ ? std::nullopt : std::optional(share);
}

}  // namespace lathe
