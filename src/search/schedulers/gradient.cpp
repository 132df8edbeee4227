#include "search/schedulers/gradient.h"

#include <utility>

#include "base/rng.h"
#include "search/schedulers/task_rounds.h"

namespace lathe {
namespace {

// A round that gains less than this gains nothing.
constexpr double kLeastGain = 0.01;
// After so many rounds without a gain a patient task hopes for half of what a similar one reached.
constexpr double kPatience = 2;

class Gradient : public TaskScheduler {
 public:
  Gradient(const std::vector<ScheduledTask>& tasks, uint64_t seed, const GradientOptions& options,
           bool is_patient)
      : options_(options), is_patient_(is_patient), rng_(seed), beliefs_(tasks.size(), 1), rounds_(tasks) {}

  std::optional<int> next() override {
    const std::vector<int> live = rounds_.live();
    if (live.empty()) return std::nullopt;
    if (const auto first = rounds_.without_round()) return first;
    if (live.size() == 1) return live.front();
    if (rng_.chance(options_.epsilon)) return live[rng_.below(live.size())];
    return rounds_.greatest(rounds_.steepness(options_, beliefs_));
  }

  void observe(int task, double best_seconds, bool used_up) override {
    rounds_.observe(task, best_seconds, used_up);
    if (is_patient_) beliefs_[task] = kPatience / (kPatience + rounds_.fruitless(task, kLeastGain));
  }

 private:
  GradientOptions options_;
  bool is_patient_;
  Rng rng_;
  std::vector<double> beliefs_;  // in what similar tasks promise, one a task
  TaskRounds rounds_;
};

}  // namespace

std::unique_ptr<TaskScheduler> make_gradient(const std::vector<ScheduledTask>& tasks, uint64_t seed,
                                             const GradientOptions& options) {
  return std::make_unique<Gradient>(tasks, seed, options, false);
}

std::unique_ptr<TaskScheduler> make_gradient_patient(const std::vector<ScheduledTask>& tasks, uint64_t seed,
                                                     const GradientOptions& options) {
  return std::make_unique<Gradient>(tasks, seed, options, true);
}

}  // namespace lathe
