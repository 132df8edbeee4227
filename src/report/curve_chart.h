// A task's search as a plot: the time of the best program so far over trials, or over the seconds spent.
#pragma once

#include <string>

#include "report/overview.h"

namespace lathe {

enum class CurveOver { trials, seconds };

// An SVG element with a text for those who do not see it; empty where the task has no program, or its records
// have no such times.
std::string curve_chart(const TaskOverview& task, CurveOver over);

}  // namespace lathe
