// Replays a trace. Pure: the same task and trace give the same program. An illegal step is an Error of kind
// illegal_schedule whose `where` is the step's text and whose message names block, loop and reason.
#pragma once

#include "schedule/trace.h"
#include "task/task.h"

namespace lathe {

Result<Program> apply_trace(const Task& task, const Trace& trace);
// One step that is no RewriteStep, on a program.
Result<Program> apply_step(const Program& program, const Step& step);

}  // namespace lathe
