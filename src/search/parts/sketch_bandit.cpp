#include "search/parts/sketch_bandit.h"

#include <cmath>

#include "search/confidence_bound.h"

namespace lathe {
namespace {

constexpr double kExploration = 0.3;  // C of Bansor's paper
constexpr int kFailuresAllowed = 3;   // of a sketch that has no time yet

}  // namespace

void SketchBandit::observe(std::span<const Trial> trials) {
  for (const Trial& trial : trials) {
    const auto sketch = static_cast<size_t>(trial.point.sketch);
    if (trial.point.sketch < 0 || sketch >= arms_.size()) continue;
    Arm& arm = arms_[sketch];
    ++arm.trials;
    ++trials_;
    if (!std::isfinite(trial.seconds)) {
      ++arm.failures;
    } else if (arm.seconds == 0 || trial.seconds < arm.seconds) {
      arm.seconds = trial.seconds;
    }
  }
}

std::vector<bool> SketchBandit::in_play() const {
  double best = 0;
  for (const Arm& arm : arms_) {
    if (arm.seconds > 0 && (best == 0 || arm.seconds < best)) best = arm.seconds;
  }
  std::vector<bool> result;
  for (const Arm& arm : arms_) {
    if (arm.trials == 0 || best == 0 || (arm.seconds == 0 && arm.failures < kFailuresAllowed)) {
      result.push_back(true);
      continue;
    }
    const double reward = arm.seconds > 0 ? best / arm.seconds : 0;
    result.push_back(confidence_bound(reward, arm.trials, trials_, kExploration) >= 1);
  }
  return result;
}

}  // namespace lathe
