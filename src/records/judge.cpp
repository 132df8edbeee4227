#include "records/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/abridged.h"
#include "base/compiler_version.h"
#include "expr/parse.h"
#include "records/record_row.h"
#include "schedule/trace.h"
#include "task/task_text.h"

namespace lathe {
namespace {

// Of what the record itself holds; empty where nothing is wrong.
std::string fault_of_program(const Record& record) {
  if (!parse_target(record.target))
    return fmt::format("its column target holds '{}'", printable(record.target));
  const Result<Trace> trace = parse_trace(record.trace, "column trace");
  if (!trace) return fmt::format("its trace cannot be read ({})", trace.error().to_string());
  return "";
}

// A task of single results may leave choices open and need no step for some of them.
bool has_several_results(const TaskText& text) {
  const Result<Dag> dag = parse_dag(text.dag);
  return !dag || std::ranges::any_of(dag->computes,
                                     [](const Compute& compute) { return compute.output.elements() > 1; });
}

}  // namespace

bool is_of_this_version(const Record& record) { return record.compiler_version == compiler_version(); }

std::expected<Record, Fault> Judge::read(const Statement& row) {
  Result<Record> record = record_alone(row);
  if (!record) return std::unexpected(Fault{record.error().message});
  if (record->id == std::numeric_limits<int64_t>::max())
    return std::unexpected(Fault{"its number is the largest there is, so that none can follow it"});
  const bool is_ours = is_of_this_version(*record);
  if (is_ours) {
    std::string reason = fault_of_program(*record);
    if (!reason.empty()) return std::unexpected(Fault{std::move(reason)});
  }
  const std::string hash = row.text(kTaskOfRecord);
  if (row.is_null(0))
    return std::unexpected(Fault{fmt::format("the file does not hold the task '{}' that is named", hash)});
  Result<TaskText> task = task_alone(row);
  std::string reason;
  if (!task) {
    reason = task.error().message;
  } else if (is_ours) {
    reason = fault_of(*task, record->target, record->cores);
  }
  if (!reason.empty())
    return std::unexpected(Fault{fmt::format("its task {} is damaged: {}", hash, reason), reason});
  if (is_ours && record->trace.empty() && record->point.has_choices() && has_several_results(*task))
    return std::unexpected(Fault{"its column trace holds ''"});
  record->task = std::move(*task);
  return std::move(*record);
}

const std::string& Judge::fault_of(const TaskText& text, const std::string& target, int cores) {
  const auto [answer, is_new] = answers_.try_emplace({text.hash, target, cores});
  if (is_new || answer->second.text != text) {
    const Result<Target> known = parse_target(target);
    answer->second = {text, known ? lathe::fault_of(text, with_cores(*known, cores)) : known.error().message};
  }
  return answer->second.reason;
}

Result<Damage> read_records(Statement& rows, Judge& judge,
                            const std::function<bool(const Statement& row, Record record)>& each) {
  Damage damage;
  for (;;) {
    LATHE_TRY(const bool has_row, rows.step());
    if (!has_row) return damage;
    std::expected<Record, Fault> record = judge.read(rows);
    if (record) {
      if (!each(rows, std::move(*record))) return damage;
      continue;
    }
    Fault& fault = record.error();
    if (!fault.of_task.empty())
      damage.tasks[rows.text(kTaskOfRecord)] = {rows.integer(kRowOfTask), std::move(fault.of_task)};
    damage.records[rows.integer(kIdOfRecord)] = std::move(fault.reason);
  }
}

}  // namespace lathe
