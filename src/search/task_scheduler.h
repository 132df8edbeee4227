// Which of a network's tasks gets the next round of trials, by ask and tell. A round is one batch of one
// task; every task gets one before any gets a second. A task whose space is used up drops out. Deterministic
// for a given seed. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lathe {

struct ScheduledTask {
  double weight = 1;  // how often the network runs it
  double flops = 0;   // of one run
  std::string kind;   // tasks with equal kind and similar flops are expected to reach similar FLOP/s
};

struct TaskSchedulerOptions {
  uint64_t seed = 0;
  double epsilon = 0.05;    // probability of a random task
  double alpha = 0.2;       // weight of the task's recent gain against its expected gain
  double beta = 2;          // how much faster than a similar task is believed possible
  int backward_window = 3;  // rounds over which the recent gain is taken
};

class TaskScheduler {
 public:
  virtual ~TaskScheduler() = default;
  // The task of the next round, or nothing when every task's space is used up.
  virtual std::optional<int> next() = 0;
  // The outcome of a round of `task`: its best latency so far (infinity: nothing valid yet), and whether its
  // space gave fewer points than it was asked for.
  virtual void observe(int task, double best_seconds, bool used_up) = 0;
};

// What formula (2) of Bansor needs to know about one task.
struct GradientInputs {
  double weight = 1;
  double flops = 0;
  std::span<const double> best_seconds;  // after each round so far, not empty
  double similar_flops_per_second = 0;   // the fastest similar task's; 0: there is none
  double belief = 1;                     // how much of what that promises is still believed in
};

// df/dt of a task: how many weighted seconds one more round is expected to save, as a number <= 0.
double task_gradient(const GradientInputs& inputs, const TaskSchedulerOptions& options);

}  // namespace lathe
