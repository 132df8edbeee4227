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

// Whether so many bytes are clearly more than the task's constants.
bool keeps_more_than_constants(const Task& task, int64_t bytes);

struct SmallerTrace {
  ChosenTrace chosen;
  int64_t bytes = 0;  // that its program keeps
  double cycles = 0;  // of one core, as the analytic model estimates; 0 where it is recorded
};
struct SmallerTraces {
  std::vector<SmallerTrace> traces;
  double untuned_cycles = 0;  // those of the program that tuning begins with
};
// Traces whose programs keep fewer than `bytes`, each an eighth less than the one before at least; at most
// six, spread evenly from the best to the smallest. The best recorded first, and the analytic model's choices
// where no record comes down to the constants themselves. None where `bytes` are hardly more than the
// constants. `records` may be null.
Result<SmallerTraces> smaller_traces(const Task& task, const RecordStore* records, int64_t bytes);

}  // namespace lathe
