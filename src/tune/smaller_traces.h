// What a task's programs keep of its constants, and which programs keep less: what prepare makes of constants
// (Winograd) takes several times their room. Nothing is measured here.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "loop/loop.h"
#include "records/record_store.h"
#include "task/task.h"
#include "tune/choose_trace.h"

namespace lathe {

// Whether the kernel itself reads the argument or what prepare fills: what only prepare reads, constants and
// what lies between the steps of a transform, need not be kept.
bool kernel_reads(const Program& program, const Tensor& tensor);
// The bytes that one use of the program keeps: of what prepare fills and of the constants what the kernel
// reads.
int64_t weight_bytes(const Program& program);

// Traces whose programs keep fewer than `bytes`, each fewer than the one before; at most three, the smallest
// that was found among them. The best recorded first, and the analytic model's choices where no record comes
// down to the constants themselves. None where `bytes` are hardly more than the constants.
// `records` may be null.
Result<std::vector<ChosenTrace>> smaller_traces(const Task& task, const RecordStore* records, int64_t bytes);

}  // namespace lathe
