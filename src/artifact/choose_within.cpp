#include "artifact/choose_within.h"

#include <limits>
#include <optional>

namespace lathe {
namespace {

// The task's step from one of its choices to another.
struct WeightsStep {
  size_t task = 0;
  size_t from = 0;
  size_t into = 0;
};

class Choosing {
 public:
  explicit Choosing(const std::vector<std::vector<WeightsChoice>>& tasks)
      : tasks_(tasks), chosen_(tasks.size(), 0) {
    for (const std::vector<WeightsChoice>& choices : tasks) bytes_ += choices.front().bytes;
  }

  std::vector<size_t> within(int64_t limit) {
    while (bytes_ > limit) {
      const std::optional<WeightsStep> step = cheapest();
      if (!step) return chosen_;
      take(*step);
    }
    while (const std::optional<WeightsStep> step = best_within(limit - bytes_)) take(*step);
    return chosen_;
  }

 private:
  int64_t bytes(size_t task, size_t choice) const { return tasks_[task][choice].bytes; }

  void take(const WeightsStep& step) {
    bytes_ += bytes(step.task, step.into) - bytes(step.task, step.from);
    chosen_[step.task] = step.into;
  }

  // The step that saves most among those that take no more room than that, of tasks that gave way.
  std::optional<WeightsStep> best_within(int64_t room) const {
    std::optional<WeightsStep> best;
    double most = 0;
    for (size_t task = 0; task < tasks_.size(); ++task) {
      if (chosen_[task] == 0) continue;
      const WeightsChoice& now = tasks_[task][chosen_[task]];
      for (size_t choice = 0; choice < tasks_[task].size(); ++choice) {
        const WeightsChoice& other = tasks_[task][choice];
        if (other.bytes - now.bytes > room || now.cost - other.cost <= most) continue;
        most = now.cost - other.cost;
        best = WeightsStep{task, chosen_[task], choice};
      }
    }
    return best;
  }

  // The step to fewer bytes that costs least for each.
  std::optional<WeightsStep> cheapest() const {
    std::optional<WeightsStep> best;
    double least = std::numeric_limits<double>::infinity();
    for (size_t task = 0; task < tasks_.size(); ++task) {
      const WeightsChoice& now = tasks_[task][chosen_[task]];
      for (size_t choice = 0; choice < tasks_[task].size(); ++choice) {
        const WeightsChoice& other = tasks_[task][choice];
        if (other.bytes >= now.bytes) continue;
        const double cost = (other.cost - now.cost) / static_cast<double>(now.bytes - other.bytes);
        if (best && cost >= least) continue;
        least = cost;
        best = WeightsStep{task, chosen_[task], choice};
      }
    }
    return best;
  }

  const std::vector<std::vector<WeightsChoice>>& tasks_;
  std::vector<size_t> chosen_;
  int64_t bytes_ = 0;
};

}  // namespace

std::vector<size_t> choose_within(const std::vector<std::vector<WeightsChoice>>& tasks, int64_t limit) {
  return Choosing(tasks).within(limit);
}

}  // namespace lathe
