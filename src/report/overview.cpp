#include "report/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "expr/parse.h"
#include "task/task.h"

namespace lathe {
namespace {

using nlohmann::ordered_json;

const Record& standard_of(const TaskSummary& summary, const std::vector<Record>& records) {
  const auto best = std::ranges::find_if(
      records, [&](const Record& record) { return summary.best_id && record.id == *summary.best_id; });
  return best != records.end() ? *best : records.back();
}

// A time that is modelled says nothing beside one that was measured.
bool counts_beside(const Record& record, const Record& standard) {
  return record.machine == standard.machine && record.compiler_version == standard.compiler_version;
}

void add_trial(const Record& record, const Record& standard, double& spent, TaskOverview& overview) {
  ++overview.comparable;
  spent += record.wall_seconds;
  const Measurement& measured = record.measurement;
  if (!measured.ok() || measured.source != standard.measurement.source) return;
  if (!overview.first_seconds) {
    overview.first_seconds = measured.seconds;
    overview.first_record = record.id;
  }
  if (!overview.curve.empty() && overview.curve.back().seconds <= measured.seconds) return;
  Improvement& better = overview.curve.emplace_back(overview.comparable);
  if (spent > 0) better.spent = spent;
  better.seconds = measured.seconds;
}

std::vector<FailedKind> failures_of(const std::vector<Record>& records) {
  std::map<ErrorKind, FailedKind> kinds;
  for (const Record& record : records) {
    if (record.measurement.ok()) continue;
    const MeasureFailure& failure = *record.measurement.failure;
    FailedKind& kind = kinds.try_emplace(failure.kind, failure.kind, 0, failure.message).first->second;
    ++kind.count;
  }
  std::vector<FailedKind> all;
  for (auto& [kind, failed] : kinds) all.push_back(std::move(failed));
  std::ranges::stable_sort(all, std::ranges::greater(), &FailedKind::count);
  return all;
}

template <class Value>
ordered_json or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json curve_json(const std::vector<Improvement>& curve) {
  ordered_json list = ordered_json::array();
  for (const Improvement& better : curve)
    list.push_back(
        {{"trial", better.trial}, {"spent_seconds", or_null(better.spent)}, {"seconds", better.seconds}});
  return list;
}

ordered_json failures_json(const std::vector<FailedKind>& failures) {
  ordered_json kinds = ordered_json::object();
  for (const FailedKind& failed : failures)
    kinds[to_string(failed.kind)] = {{"count", failed.count}, {"first", failed.message}};
  return kinds;
}

}  // namespace

TaskOverview overview_of(TaskSummary summary, const std::vector<Record>& records) {
  TaskOverview overview;
  overview.summary = std::move(summary);
  if (const Result<Dag> dag = parse_dag(overview.summary.task.dag, "task")) {
    overview.flops = flops_of(*dag);
    overview.bytes = bytes_of(*dag);
  }
  const Record& standard = standard_of(overview.summary, records);
  overview.machine = standard.machine;
  overview.compiler_version = standard.compiler_version;
  overview.first_at = records.front().created_at;
  double spent = 0;
  for (const Record& record : records) {
    overview.records.push_back(record.id);
    overview.wall_seconds += record.wall_seconds;
    overview.first_at = std::min(overview.first_at, record.created_at);
    overview.last_at = std::max(overview.last_at, record.created_at);
    std::vector<std::string>& versions = overview.compiler_versions;
    if (std::ranges::find(versions, record.compiler_version) == versions.end())
      versions.push_back(record.compiler_version);
    if (counts_beside(record, standard)) add_trial(record, standard, spent, overview);
  }
  overview.failures = failures_of(records);
  return overview;
}

std::optional<double> gain_of(const TaskOverview& overview) {
  if (!overview.first_seconds || !overview.summary.best_seconds) return std::nullopt;
  return *overview.first_seconds / *overview.summary.best_seconds;
}

std::optional<double> gflops_at(const TaskOverview& overview, const std::optional<double>& seconds) {
  if (!overview.flops || !seconds) return std::nullopt;
  return static_cast<double>(*overview.flops) / *seconds * 1e-9;
}

std::string described(const TaskText& task) {
  std::string text = task.name;
  if (task.runs_cold) text += " (cold)";
  if (!task.free_layouts && task.layouts.empty()) text += " (row-major)";
  if (!task.algorithm.empty()) text += fmt::format(" ({} required)", task.algorithm);
  return text;
}

ordered_json json_of(const TaskOverview& overview) {
  const TaskSummary& summary = overview.summary;
  return {{"task", hash_to_string(summary.task.hash)},
          {"name", summary.task.name},
          {"target", summary.target},
          {"cores", summary.cores},
          {"runs_cold", summary.task.runs_cold},
          {"algorithm", summary.task.algorithm},
          {"trials", summary.trials},
          {"failed", summary.failed},
          {"seconds", or_null(summary.best_seconds)},
          {"record", or_null(summary.best_id)},
          {"described", described(summary.task)},
          {"flops", or_null(overview.flops)},
          {"bytes", or_null(overview.bytes)},
          {"gflops", or_null(gflops_at(overview, summary.best_seconds))},
          {"machine", overview.machine},
          {"compiler_version", overview.compiler_version},
          {"comparable", overview.comparable},
          {"first_seconds", or_null(overview.first_seconds)},
          {"first_record", or_null(overview.first_record)},
          {"first_gflops", or_null(gflops_at(overview, overview.first_seconds))},
          {"gain", or_null(gain_of(overview))},
          {"curve", curve_json(overview.curve)},
          {"failures", failures_json(overview.failures)},
          {"compiler_versions", overview.compiler_versions},
          {"first_at", overview.first_at},
          {"last_at", overview.last_at},
          {"wall_seconds", overview.wall_seconds}};
}

}  // namespace lathe
