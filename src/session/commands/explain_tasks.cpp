#include "session/commands/explain_tasks.h"

#include <algorithm>
#include <array>

#include "base/compiler_version.h"
#include "base/hash.h"
#include "measure/peak.h"
#include "records/within.h"
#include "session/commands/find_task.h"
#include "session/open_records.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe {
namespace {

// Of a processor. Nothing where this machine did not measure, or does not run the target on so many cores:
// the bounds would be another machine's.
std::optional<Roofline> roofline_of(const Target& target, const Record& measured) {
  const auto* cpu = std::get_if<CpuTarget>(&target.kind);
  if (cpu == nullptr || measured.machine != target.machine || !check_runs_here(target) ||
      cpu->cores > static_cast<int>(allowed_cpus().size()))
    return std::nullopt;
  Roofline roofline;
  roofline.gflops = measure_fma_gflops(target);
  const std::array<int64_t, 3> bytes = {cpu->l2.bytes / 2,
                                        std::min(cpu->l3.bytes / 2 / cpu->cores, 8 * cpu->l2.bytes),
                                        bytes_beyond_caches(target) / cpu->cores};
  for (size_t level = 0; level < bytes.size(); ++level) {
    const Result<double> gigabytes = measure_read_gigabytes(target, bytes[level]);
    if (!gigabytes) return std::nullopt;
    roofline.gigabytes[level] = *gigabytes;
  }
  return roofline;
}

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
  const std::optional<Roofline> roofline = roofline_of(target, compared.records.front());
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
