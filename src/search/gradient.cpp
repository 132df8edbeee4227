#include "search/gradient.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/rng.h"

namespace lathe {
namespace {

// A round that gains less than this gains nothing.
constexpr double kLeastGain = 0.01;
// After so many rounds without a gain a task hopes for half of what a similar one reached: hopes that nothing
// comes of would take the rounds of all others.
constexpr double kPatience = 2;

// How many rounds at the end of a history gained nothing.
size_t rounds_without_gain(const std::vector<double>& best_seconds) {
  const auto as_good = [&](double s) { return s <= best_seconds.back() * (1 + kLeastGain); };
  const auto gain = std::find_if_not(best_seconds.rbegin(), best_seconds.rend(), as_good);
  return static_cast<size_t>(gain - best_seconds.rbegin()) - 1;
}

// Tasks are similar when their FLOPs fall into the same step of a golden-ratio scale.
int flops_class(double flops) { return static_cast<int>(std::floor(std::log(flops + 1) / std::log(1.618))); }

class Gradient : public TaskScheduler {
 public:
  Gradient(const std::vector<ScheduledTask>& tasks, const TaskSchedulerOptions& options)
      : tasks_(tasks), options_(options), rng_(options.seed), progress_(tasks_.size()) {}

  std::optional<int> next() override {
    std::vector<int> live;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      if (!progress_[i].used_up) live.push_back(static_cast<int>(i));
    }
    if (live.empty()) return std::nullopt;
    for (int task : live) {
      if (progress_[task].best_seconds.empty()) return task;
    }
    if (live.size() == 1) return live.front();
    if (rng_.chance(options_.epsilon)) return live[rng_.below(live.size())];
    return steepest(live);
  }

  void observe(int task, double best_seconds, bool used_up) override {
    LATHE_CHECK(task >= 0 && task < std::ssize(tasks_));
    progress_[task].best_seconds.push_back(best_seconds);
    progress_[task].used_up |= used_up;
  }

 private:
  struct Progress {
    std::vector<double> best_seconds;  // after each round
    bool used_up = false;

    bool valid() const { return !best_seconds.empty() && std::isfinite(best_seconds.back()); }
    size_t rounds() const { return best_seconds.size(); }
  };

  int steepest(const std::vector<int>& live) const {
    std::vector<double> steepness(tasks_.size(), 0);
    double most = 0;
    for (int task : live) {
      if (!progress_[task].valid()) continue;
      steepness[task] = std::abs(gradient(task));
      most = std::max(most, steepness[task]);
    }
    for (int task : live) {
      if (!progress_[task].valid()) steepness[task] = most;
    }
    return *std::min_element(live.begin(), live.end(), [&](int a, int b) {
      return std::pair(-steepness[a], progress_[a].rounds()) <
             std::pair(-steepness[b], progress_[b].rounds());
    });
  }

  double gradient(int task) const {
    // Rounds before the first valid program say nothing about how fast it improves, but they count as rounds.
    std::vector<double> history = progress_[task].best_seconds;
    const auto first_valid =
        std::find_if(history.begin(), history.end(), [](double s) { return std::isfinite(s); });
    std::fill(history.begin(), first_valid, *first_valid);
    const auto fruitless = static_cast<double>(rounds_without_gain(history));
    return task_gradient({.weight = tasks_[task].weight,
                          .flops = tasks_[task].flops,
                          .best_seconds = history,
                          .similar_flops_per_second = similar_speed(task),
                          .belief = kPatience / (kPatience + fruitless)},
                         options_);
  }

  double similar_speed(int task) const {
    double fastest = 0;
    for (size_t other = 0; other < tasks_.size(); ++other) {
      if (static_cast<int>(other) == task || !progress_[other].valid()) continue;
      if (tasks_[other].kind != tasks_[task].kind) continue;
      if (flops_class(tasks_[other].flops) != flops_class(tasks_[task].flops)) continue;
      fastest = std::max(fastest, tasks_[other].flops / progress_[other].best_seconds.back());
    }
    return fastest;
  }

  std::vector<ScheduledTask> tasks_;
  TaskSchedulerOptions options_;
  Rng rng_;
  std::vector<Progress> progress_;
};

}  // namespace

std::unique_ptr<TaskScheduler> make_gradient(const std::vector<ScheduledTask>& tasks,
                                             const TaskSchedulerOptions& options) {
  return std::make_unique<Gradient>(tasks, options);
}

}  // namespace lathe
