// Who watches over work that may take minutes: until when it may go on, who may end it, and what is told of
// it meanwhile. A plain value; its functions are called in the thread that does the work.
#pragma once

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

}  // namespace lathe
