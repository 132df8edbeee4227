// Replays one trace after another where each begins much as the last did: the points of a search in order
// differ in few integers, and the steps before the first difference need not be taken again.
#pragma once

#include <vector>

#include "schedule/trace.h"
#include "task/task.h"

namespace lathe {

class PrefixReplay {
 public:
  explicit PrefixReplay(Task task) : task_(std::move(task)) {}

  // What apply_trace gives.
  Result<Program> apply(const Trace& trace);

 private:
  Task task_;
  Trace taken_;                    // the last trace, up to its first illegal step
  size_t rewrites_ = 0;            // steps of it that come before there is a program
  std::vector<Program> programs_;  // [i]: after rewrites_ + i steps
};

}  // namespace lathe
