// Random legal schedules, drawn without any rule of the space: a step is proposed from what the present
// program has, and kept if the primitives take it. One seed gives one trace.
#pragma once

#include <cstdint>
#include <string>

#include "base/rng.h"
#include "schedule/trace.h"
#include "task/task.h"

namespace lathe::testing {

struct RandomTrace {
  Trace trace;
  int proposed = 0;   // steps, the refused ones included
  std::string fault;  // a refusal that was no `illegal_schedule` error; else empty
};

// Up to `steps` proposals, in half of the traces after an algorithm that applies to the task.
RandomTrace random_trace(const Task& task, int steps, Rng& rng);

}  // namespace lathe::testing
