// How long a program takes here, on this one core, by whatever inputs: for comparisons of two programs of one
// task, which nothing but their schedules tells apart.
#pragma once

#include <vector>

#include "base/result.h"
#include "schedule/trace.h"
#include "task/task.h"

namespace lathe {

// Of each of the traces, in turns: the median of so many rounds.
Result<std::vector<double>> trial_seconds(const Task& task, const std::vector<Trace>& traces, int rounds);

}  // namespace lathe
