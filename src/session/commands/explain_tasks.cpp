#include "session/commands/explain_tasks.h"

#include "base/compiler_version.h"
#include "base/hash.h"
#include "records/within.h"
#include "session/commands/find_task.h"
#include "session/measured_roofline.h"
#include "session/open_records.h"

namespace lathe {
namespace {

Result<ExplainedTask> explained(const RecordStore& store, const TaskSummary& summary) {
  RecordQuery query;
  query.task_hash = summary.task.hash;
  query.target = summary.target;
  query.cores = summary.cores;
  LATHE_TRY(std::vector<Record> found, store.find(query));
  if (found.empty()) return no_such_task(store, hash_to_string(summary.task.hash));
  LATHE_TRY(Target target, parse_target(summary.target));
  target = with_cores(std::move(target), summary.cores);
  Comparable compared = comparable(std::move(found), target.machine, compiler_version());
  const std::optional<Roofline> roofline =
      compared.records.front().machine == target.machine ? measured_roofline(target) : std::nullopt;
  LATHE_TRY(Explanation explanation, within(store.path(), explain(compared.records, roofline)));
  return ExplainedTask{summary, std::move(compared), target.machine, roofline, std::move(explanation)};
}

}  // namespace

Status explain_tasks(const std::string& file, const std::string& digits, const Teller& note,
                     const std::function<void(const ExplainedTask&)>& told) {
  LATHE_TRY(const RecordStore store, open_records_to_read(file, note));
  LATHE_TRY(const uint64_t hash, find_task(store, digits));
  LATHE_TRY(const std::vector<TaskSummary> tasks, store.tasks({.task_hash = hash}));
  if (tasks.empty()) return no_such_task(store, digits);
  for (const TaskSummary& summary : tasks) {
    LATHE_TRY(const ExplainedTask task, explained(store, summary));
    told(task);
  }
  return {};
}

}  // namespace lathe
