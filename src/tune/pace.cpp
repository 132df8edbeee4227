#include "tune/pace.h"

#include <algorithm>

namespace lathe {

Status Pace::take(Evaluator& evaluator, const Watch& watch) {
  constexpr double kNoise = 0.05;  // of one measurement
  if (!fastest_ || watch.is_over()) return {};
  LATHE_TRY(const std::vector<Evaluated> again, evaluator.evaluate({&*fastest_, 1}, watch));
  if (again.empty() || !again.front().measurement.ok()) return {};
  const double seconds = again.front().measurement.seconds;
  shortest_ = std::min(shortest_, seconds);
  now_ = seconds / shortest_;
  if (now_ < 1 + kNoise) now_ = 1;
  slowest_ = std::max(slowest_, now_);
  return {};
}

void Pace::offer(const MeasureJob& job, double seconds) {
  if (fastest_ && seconds >= shortest_) return;
  fastest_ = job;
  fastest_->best_seconds = 0;  // it is measured to the end
  shortest_ = seconds;
}

}  // namespace lathe
