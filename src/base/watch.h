// Who watches over work that may take minutes: until when it may go on, who may end it, and what is told of
// it meanwhile. A plain value; its functions are called in the thread that does the work.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/deadline.h"

namespace lathe {

struct WorkState {
  std::string what;             // "the reference of C is computed"
  double seconds = 0;           // since this began
  double expected_seconds = 0;  // it will take in all, by estimate
};

struct Watch {
  Deadline deadline = {};
  std::function<bool()> stop = {};
  // At the beginning of each part, and a few times a second where runs of machine code last longer.
  std::function<void(const WorkState&)> observer = {};

  bool is_over() const { return deadline.is_past() || (stop && stop()); }
};

// A watch over many short steps, asked in each of them: it looks at the clock once for so many, and once over
// it stays so. The watch outlives it; without one it is never over.
class StepWatch {
 public:
  StepWatch() = default;
  StepWatch(const Watch& watch, uint64_t steps_at_once) : watch_(&watch), steps_at_once_(steps_at_once) {}

  // Once a step.
  bool is_over_after_step() {
    if (watch_ != nullptr && !is_over_ && ++steps_ % steps_at_once_ == 0) is_over_ = watch_->is_over();
    return is_over_;
  }
  bool is_over() const { return is_over_; }

 private:
  const Watch* watch_ = nullptr;
  uint64_t steps_at_once_ = 1;
  uint64_t steps_ = 0;
  bool is_over_ = false;
};

}  // namespace lathe
