// lathe show: what a records file holds, its tasks or one task's records.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "cli/artifact_options.h"
#include "cli/command.h"
#include "cli/console.h"
#include "session/commands/find_task.h"
#include "session/commands/task_overviews.h"
#include "session/open_records.h"

namespace lathe::cli {
namespace {

using nlohmann::ordered_json;

struct ShowOptions {
  std::string file;
  std::string task;
  bool json = false;
};

std::string dump(const ordered_json& json) {
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Status show_tasks(const RecordStore& store, bool as_json) {
  if (as_json) {
    LATHE_TRY(const std::vector<TaskOverview> overviews, task_overviews(store));
    ordered_json list = ordered_json::array();
    for (const TaskOverview& overview : overviews) list.push_back(json_of(overview));
    to_stdout("{}\n", dump(list));
    return {};
  }
  LATHE_TRY(const std::vector<TaskSummary> tasks, store.tasks({}));
  to_stdout("{:<16}  {:<10}  {:>5}  {:>6}  {:>6}  {:>12}  {:>6}  {}\n", "task", "target", "cores", "trials",
            "failed", "best", "record", "name");
  for (const TaskSummary& summary : tasks) {
    const std::string best =
        summary.best_seconds ? fmt::format("{:.3f} us", *summary.best_seconds * 1e6) : "-";
    const std::string id = summary.best_id ? fmt::format("{}", *summary.best_id) : "-";
    to_stdout("{:<16}  {:<10}  {:>5}  {:>6}  {:>6}  {:>12}  {:>6}  {}\n", hash_to_string(summary.task.hash),
              summary.target, summary.cores, summary.trials, summary.failed, best, id,
              described(summary.task));
  }
  return {};
}

ordered_json record_json(const Record& record) {
  const Measurement& measurement = record.measurement;
  ordered_json entry = {{"record", record.id},
                        {"task", hash_to_string(record.task.hash)},
                        {"target", record.target},
                        {"machine", record.machine},
                        {"cores", record.cores},
                        {"compiler_version", record.compiler_version},
                        {"source", to_string(measurement.source)},
                        {"seconds", nullptr},
                        {"spread", nullptr},
                        {"samples", measurement.samples},
                        {"failure", nullptr},
                        {"strategy", record.strategy},
                        {"seed", record.seed},
                        {"created_at", record.created_at},
                        {"wall_seconds", record.wall_seconds},
                        {"point", ordered_json::parse(print(record.point))},
                        {"trace", record.trace}};
  if (measurement.failure) {
    entry["failure"] = {{"kind", to_string(measurement.failure->kind)},
                        {"message", measurement.failure->message}};
  } else {
    entry["seconds"] = measurement.seconds;
    entry["spread"] = measurement.spread;
  }
  return entry;
}

std::string choices_text(const RecordedPoint& point) {
  std::string text = fmt::format("{}", fmt::join(point.integers, " "));
  for (const auto& [name, values] : point.choices)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, fmt::join(values, "x"));
  return text;
}

void print_record(const Record& record) {
  const Measurement& measurement = record.measurement;
  const std::string outcome =
      measurement.ok()
          ? fmt::format("{:.3f} us, spread {:.1f} %", measurement.seconds * 1e6, measurement.spread * 100)
          : fmt::format("{}: {}", to_string(measurement.failure->kind), measurement.failure->message);
  to_stdout("{:>6}  {} on {} core{}  {}  {} [{}]\n", record.id, record.target, record.cores,
            record.cores == 1 ? "" : "s", outcome, record.point.sketch, choices_text(record.point));
}

Status show_records(const RecordStore& store, const ShowOptions& options) {
  LATHE_TRY(const uint64_t hash, find_task(store, options.task));
  LATHE_TRY(const std::vector<Record> records, store.find({.task_hash = hash}));
  if (records.empty()) return no_such_task(store, options.task);
  if (options.json) {
    ordered_json list = ordered_json::array();
    for (const Record& record : records) list.push_back(record_json(record));
    to_stdout("{}\n", dump(list));
    return {};
  }
  const TaskText& task = records.front().task;
  to_stdout("{} {}\n{}", hash_to_string(hash), task.name, task.dag);
  for (const Record& record : records) print_record(record);
  return {};
}

Status run(const ShowOptions& options) {
  LATHE_TRY(const RecordStore store, open_records_to_read(options.file, report_note));
  return options.task.empty() ? show_tasks(store, options.json) : show_records(store, options);
}

}  // namespace

void add_show(CLI::App& app, Action& chosen) {
  OptionSet command = add_command(app, "show", "list the tasks of a records file, or a task's records");
  const auto options = std::make_shared<ShowOptions>();
  command.text("FILE", options->file, "the records file", {.is_required = true});
  command.text("--task", options->task, "the records of this task, of whose digits the first will do");
  command.flag("--json", options->json, "as JSON");
  command.action(chosen, [options] { return run(*options); });
}

}  // namespace lathe::cli
