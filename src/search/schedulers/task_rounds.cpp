#include "search/schedulers/task_rounds.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/check.h"

namespace lathe {
namespace {

int flops_class(double flops) { return static_cast<int>(std::floor(std::log(flops + 1) / std::log(1.618))); }

}  // namespace

void TaskRounds::observe(int task, double best_seconds, bool used_up) {
  LATHE_CHECK(task >= 0 && task < std::ssize(tasks_));
  Progress& progress = progress_[task];
  // Rounds before the first valid program say nothing of how fast a task improves, but they count as rounds.
  if (!valid(task)) std::ranges::fill(progress.best_seconds, best_seconds);
  progress.best_seconds.push_back(best_seconds);
  progress.used_up |= used_up;
}

std::vector<int> TaskRounds::live() const {
  std::vector<int> result;
  for (size_t i = 0; i < tasks_.size(); ++i)
    if (!progress_[i].used_up) result.push_back(static_cast<int>(i));
  return result;
}

std::optional<int> TaskRounds::without_round() const {
  for (const int task : live())
    if (count(task) == 0) return task;
  return std::nullopt;
}

int TaskRounds::fruitless(int task, double least_gain) const {
  const std::vector<double>& history = progress_[task].best_seconds;
  const auto as_good = [&](double seconds) { return seconds <= history.back() * (1 + least_gain); };
  const auto gain = std::find_if_not(history.rbegin(), history.rend(), as_good);
  return std::max(0, static_cast<int>(gain - history.rbegin()) - 1);
}

std::vector<double> TaskRounds::steepness(const GradientOptions& options,
                                          const std::vector<double>& beliefs) const {
  std::vector<double> result(tasks_.size(), 0);
  double most = 0;
  for (const int task : live()) {
    if (!valid(task)) continue;
    const GradientInputs inputs{.weight = tasks_[task].weight,
                                .flops = tasks_[task].flops,
                                .best_seconds = progress_[task].best_seconds,
                                .similar_flops_per_second = similar_speed(task),
                                .belief = beliefs[task]};
    result[task] = std::abs(task_gradient(inputs, options));
    most = std::max(most, result[task]);
  }
  for (const int task : live())
    if (!valid(task)) result[task] = most;
  return result;
}

int TaskRounds::greatest(const std::vector<double>& values) const {
  const std::vector<int> tasks = live();
  LATHE_CHECK(!tasks.empty());
  return *std::ranges::min_element(tasks, {},
                                   [&](int task) { return std::tuple(-values[task], count(task), task); });
}

bool TaskRounds::valid(int task) const {
  return count(task) > 0 && std::isfinite(progress_[task].best_seconds.back());
}

double TaskRounds::similar_speed(int task) const {
  double fastest = 0;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    const int other = static_cast<int>(i);
    if (other == task || !valid(other)) continue;
    if (tasks_[other].kind != tasks_[task].kind) continue;
    if (flops_class(tasks_[other].flops) != flops_class(tasks_[task].flops)) continue;
    fastest = std::max(fastest, tasks_[other].flops / progress_[other].best_seconds.back());
  }
  return fastest;
}

}  // namespace lathe
