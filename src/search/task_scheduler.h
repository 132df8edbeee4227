// Which of a network's tasks gets the next round of trials, by ask and tell. A round is one batch of one
// task; every task gets one before any gets a second. A task whose space is used up drops out. Deterministic
// for a given seed. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lathe {

struct ScheduledTask {
  double weight = 1;  // how often the network runs it
  double flops = 0;   // of one run
  std::string kind;   // tasks with equal kind and similar flops are expected to reach similar FLOP/s
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

}  // namespace lathe
