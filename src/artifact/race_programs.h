// What programs of one task take for a caller whose tensors are row-major: kernel and conversions together,
// as in an artifact, measured in this process; of a task that runs cold with its buffers out of the caches.
// Programs must have been checked (measure/): nothing guards against what they do wrong.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "artifact/model.h"
#include "base/deadline.h"
#include "base/result.h"

namespace lathe {

// Seconds of a run of each, measured in turns, so that all meet the machine at the same paces; for some
// tenths of a second, or where a turn takes longer than a second, one of them after the first runs. Where
// tensors lie in their pages is the caller's affair and matters to small programs, so the time of one is the
// mean of two places (runtime/guarded_layout.h), but where it takes long or runs cold. By the deadline fewer
// turns are taken, at last the first runs alone; none where not even these are done by then. An Error where a
// program cannot be loaded or a run fails.
Result<std::optional<std::vector<double>>> race_programs(std::span<const CompiledTask> programs,
                                                         const Deadline& deadline = {});

}  // namespace lathe
