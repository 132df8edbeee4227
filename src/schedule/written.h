// A candidate as it is handed on from the space to features, compiler and records: each of its forms is made
// once. An immutable value, shared.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "loop/loop.h"
#include "schedule/trace.h"
#include "task/task.h"

namespace lathe {

struct Written {
  Trace trace;
  uint64_t hash = 0;  // of the trace's text: candidates of one hash are one
  Program program;    // what the trace gives
};

// An Error where a step is illegal.
Result<std::shared_ptr<const Written>> write_program(const Task& task, Trace trace);

}  // namespace lathe
