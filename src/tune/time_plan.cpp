#include "tune/time_plan.h"

#include <algorithm>
#include <cmath>

#include "measure/time_bounds.h"
#include "tune/finals.h"

namespace lathe {
namespace {

constexpr double kShareOfEnd = 0.4;
constexpr double kShareOfLeastEnd = 0.1;
// To build a task's finalists and, of a workload, to draw its data anew.
constexpr double kPrepareSeconds = 0.4;
// That and the race, of tasks most of which have one or two finalists.
constexpr double kUsualRaceSeconds = 0.25;
// Estimates of comparisons are a matter of tens of milliseconds and more.
constexpr double kLeastTaken = 0.05;

}  // namespace

TimePlan::TimePlan(const Deadline& deadline, double closing_seconds) {
  const auto earlier = [&](double most_share) {
    const double most = most_share * std::max(deadline.seconds_left(), 0.0);
    return deadline.earlier_by(std::min(closing_seconds, most));
  };
  end_ = earlier(kShareOfEnd);
  end_of_first_ = earlier(kShareOfLeastEnd);
}

double TimePlan::check_seconds(const Task& task) const {
  const double slower = taken_ > kLeastTaken ? std::clamp(taken_ / estimated_, 0.2, 20.0) : 1;
  return slower * full_check_seconds(task);
}

Deadline TimePlan::end_of_search(const std::vector<const Task*>& tasks) const {
  const double left = end_.seconds_left();
  if (std::isinf(left)) return end_;
  const double most = kShareOfEnd * std::max(left, 0.0);
  std::vector<double> checks;
  double reserve = 0;
  for (const Task* task : tasks) {
    checks.push_back(check_seconds(*task));
    reserve += kUsualRaceSeconds + drawing_seconds(task->dag);
  }
  std::ranges::sort(checks);
  for (const double seconds : checks) {
    if (seconds <= most) reserve += seconds;
  }
  return end_.earlier_by(std::min(reserve, most));
}

Deadline TimePlan::end_of_race(const Task& task, const std::vector<const Task*>& later) const {
  double checks = check_seconds(task);
  for (const Task* each : later) checks += kPrepareSeconds + check_seconds(*each);
  const double left = end_.seconds_left() - checks;
  if (std::isinf(left)) return end_;
  const double share = left / static_cast<double>(later.size() + 1);
  return Deadline::in(std::clamp(share, 0.0, kRaceSeconds + kPrepareSeconds));
}

Deadline TimePlan::end_of_check(const Task& task) const {
  return check_seconds(task) > end_.seconds_left() ? Deadline::in(0) : end_;
}

void TimePlan::learn(const Task& task, double seconds) {
  estimated_ += full_check_seconds(task);
  taken_ += seconds;
}

}  // namespace lathe
