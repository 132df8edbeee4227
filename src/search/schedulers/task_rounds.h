// What a scheduler knows of a network's tasks: the rounds that each was given and what they gave, from which
// formula (2) of Bansor follows. A value.
#pragma once

#include <optional>
#include <vector>

#include "search/schedulers/task_gradient.h"
#include "search/task_scheduler.h"

namespace lathe {

class TaskRounds {
 public:
  explicit TaskRounds(std::vector<ScheduledTask> tasks)
      : tasks_(std::move(tasks)), progress_(tasks_.size()) {}

  void observe(int task, double best_seconds, bool used_up);

  // The tasks whose space is not used up.
  std::vector<int> live() const;
  // The first of them that had no round: the warm-up comes before any choice.
  std::optional<int> without_round() const;
  // How many rounds a task had.
  int count(int task) const { return static_cast<int>(progress_[task].best_seconds.size()); }
  // How many rounds at the end gained nothing, a gain below `least_gain` of the best being none.
  int fruitless(int task, double least_gain) const;
  // |df/dt| of every live task, 0 for the others; `beliefs` has one entry a task. A task without a valid
  // program has no gradient: it is taken for as promising as the most promising other one.
  std::vector<double> steepness(const GradientOptions& options, const std::vector<double>& beliefs) const;
  // The live task of the greatest `value`; ties go to the one of fewer rounds, then to the first. Some is
  // live.
  int greatest(const std::vector<double>& values) const;

 private:
  struct Progress {
    std::vector<double> best_seconds;  // after each round; those before the first valid program have its time
    bool used_up = false;
  };
  bool valid(int task) const;
  // The greatest FLOP/s of the tasks that are similar: of one kind, and of FLOPs in one step of a
  // golden-ratio scale.
  double similar_speed(int task) const;

  std::vector<ScheduledTask> tasks_;
  std::vector<Progress> progress_;
};

}  // namespace lathe
