#include "session/commands/task_overviews.h"

namespace lathe {

Result<std::vector<TaskOverview>> task_overviews(const RecordStore& store) {
  LATHE_TRY(std::vector<TaskSummary> summaries, store.tasks({}));
  std::vector<TaskOverview> overviews;
  for (TaskSummary& summary : summaries) {
    RecordQuery query;
    query.task_hash = summary.task.hash;
    query.target = summary.target;
    query.cores = summary.cores;
    LATHE_TRY(const std::vector<Record> records, store.find(query));
    // Another process may have pruned them meanwhile.
    if (!records.empty()) overviews.push_back(overview_of(std::move(summary), records));
  }
  return overviews;
}

}  // namespace lathe
