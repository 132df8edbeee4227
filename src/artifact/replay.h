// A record made again from the records file alone: its task, its trace, its code.
#pragma once

#include <string>

#include "base/result.h"
#include "compile/compile.h"
#include "records/record.h"

namespace lathe {

// The record's program in that form ("loops", "lowered", "llvm", "asm", "c"). An Error where the record is
// damaged or does not compile any more.
Result<std::string> replay_text(const Record& record, const std::string& form);
// Its task for the target it was measured on, and its trace.
Result<Task> replayed_task(const Record& record);
Result<Trace> replayed_trace(const Record& record);

}  // namespace lathe
