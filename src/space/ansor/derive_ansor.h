// The space `ansor`: the sketches and random annotations that Ansor and Bansor search ([B] II and III, table
// I), for processors. It has no points to begin with: the papers' searches begin at random ones.
#pragma once

#include "analysis/cost_constants.h"
#include "space/space.h"
#include "task/task.h"

namespace lathe {

// An Error of kind unsupported for targets of another kind, and for a task that requires an algorithm, since
// its rules rewrite no formula.
Result<Space> derive_ansor(const Task& task, const CostConstants& costs = {});

}  // namespace lathe
