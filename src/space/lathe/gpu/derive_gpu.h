// The part of the space `lathe` that is for devices of many threads: one sketch of the Dag as it is, in which
// each stage is a kernel.
#pragma once

#include "analysis/cost_constants.h"
#include "space/space.h"
#include "task/task.h"

namespace lathe {

// An Error of kind unsupported where the task requires an algorithm, for which there are no rules yet.
Result<Space> derive_gpu(const Task& task, const CostConstants& costs = {});

}  // namespace lathe
