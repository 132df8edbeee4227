// What a records file knows of each of its tasks: `lathe show --json` prints it, `lathe report` draws it.
#pragma once

#include <vector>

#include "base/result.h"
#include "records/record_store.h"
#include "report/overview.h"

namespace lathe {

// Of each task, target and number of cores, in the order of RecordStore::tasks.
Result<std::vector<TaskOverview>> task_overviews(const RecordStore& store);

}  // namespace lathe
