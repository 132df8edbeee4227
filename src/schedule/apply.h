// Replays a trace. Pure: the same task and trace give the same program. An illegal step is an Error of kind
// illegal_schedule whose `where` is the step's text and whose message names block, loop and reason.
#pragma once

#include "schedule/trace.h"
#include "task/task.h"

namespace lathe {

// Whether a rewrite of the trace has an infinity or NaN reach results whose formula does not read it.
bool spreads_specials(const Trace& trace);

// An Error names the first step whose intrinsic the target has no instruction for; an intrinsic that is
// unknown is the step's own error.
Status check_intrinsics(const Target& target, const Trace& trace);

// A task's required algorithm must be among the rewrites; a task that is to keep infinities and NaN where
// they belong (kExactSpecials) takes no trace that spreads them.
Result<Program> apply_trace(const Task& task, const Trace& trace);
// One step that is no RewriteStep, on a program.
Result<Program> apply_step(const Program& program, const Step& step);

// The loops that reverse_compute_at makes, one for each dimension of the producer's buffer, where the
// consumer reads it at `index`: named as the first axis in that dimension's index.
std::vector<std::string> side_loop_names(const std::vector<Affine>& index);

}  // namespace lathe
