#include "search/schedulers/ucb.h"

#include "search/confidence_bound.h"
#include "search/schedulers/task_rounds.h"

namespace lathe {
namespace {

class Ucb : public TaskScheduler {
 public:
  Ucb(const std::vector<ScheduledTask>& tasks, const UcbOptions& options)
      : exploration_(options.exploration),
        gradient_{0, options.alpha, options.beta, options.backward_window},
        beliefs_(tasks.size(), 1),
        rounds_(tasks) {}

  std::optional<int> next() override {
    const std::vector<int> live = rounds_.live();
    if (live.empty()) return std::nullopt;
    if (const auto first = rounds_.without_round()) return first;
    // A task whose space is used up counts neither among the gradients nor among the rounds.
    const std::vector<double> all = rounds_.steepness(gradient_, beliefs_);
    std::vector<double> steepness;
    std::vector<int> counts;
    for (const int task : live) {
      steepness.push_back(all[task]);
      counts.push_back(rounds_.count(task));
    }
    const std::vector<double> bounds = task_bounds(steepness, counts, exploration_);
    std::vector<double> values(beliefs_.size(), 0);
    for (size_t i = 0; i < live.size(); ++i) values[live[i]] = bounds[i];
    return rounds_.greatest(values);
  }

  void observe(int task, double best_seconds, bool used_up) override {
    rounds_.observe(task, best_seconds, used_up);
  }

 private:
  double exploration_;
  GradientOptions gradient_;
  std::vector<double> beliefs_;
  TaskRounds rounds_;
};

}  // namespace

std::vector<Setting<UcbOptions>> ucb_settings() {
  return {{"exploration", &UcbOptions::exploration, 0, 1000},
          {"alpha", &UcbOptions::alpha, 0, 1},
          {"beta", &UcbOptions::beta, 0, 1000},
          {"backward-window", &UcbOptions::backward_window, 1, 1000}};
}

std::unique_ptr<TaskScheduler> make_ucb(const std::vector<ScheduledTask>& tasks, uint64_t,
                                        const UcbOptions& options) {
  return std::make_unique<Ucb>(tasks, options);
}

}  // namespace lathe
