// Which records count for a task.
#pragma once

#include "records/record_store.h"
#include "task/task.h"

namespace lathe {

// Those of this task, its target and its number of cores that this version of the compiler made: of another
// version the time says nothing about the code that the trace gives now.
RecordQuery records_of(const Task& task);

}  // namespace lathe
