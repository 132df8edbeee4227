// lathe explain: a task's best program in words, where its time goes, and what else was tried.
#include "explain/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/compiler_version.h"
#include "base/hash.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/open_records.h"
#include "cli/task_option.h"
#include "explain/comparable.h"
#include "measure/peak.h"
#include "records/within.h"
#include "target/all.h"
#include "target/detect.h"

namespace lathe::cli {
namespace {

constexpr size_t kValuesShown = 5;

struct ExplainOptions {
  std::string file;
  std::string task;
};

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

std::string microseconds(std::optional<double> seconds) {
  return seconds ? fmt::format("{:.1f} us", *seconds * 1e6) : "-";
}

void print_makers(const Comparable& compared, const std::string& machine_here) {
  const Record& record = compared.records.front();
  if (record.machine != machine_here || record.compiler_version != compiler_version())
    to_stdout("measured on {} by version {}\n", record.machine, record.compiler_version);
  if (compared.left_aside == 0) return;
  to_stdout("left aside: {} trial{} on another processor or by another version\n", compared.left_aside,
            compared.left_aside == 1 ? "" : "s");
}

void print_program(const Explanation& explanation) {
  to_stdout("\nthe program (record {}):\n", explanation.best.id);
  std::string subject;
  for (const StepInWords& step : explanation.steps) {
    to_stdout("  {:<16} {}\n", step.subject == subject ? "" : step.subject, step.words);
    subject = step.subject;
  }
}

void print_bounds(const Explanation& explanation, const Roofline& roofline) {
  const Rival& winner = explanation.sketches.front();
  const double seconds = explanation.best.measurement.seconds;
  to_stdout(
      "\nwhere its time must go at {:.1f} GFLOP/s and {:.1f}, {:.1f}, {:.1f} GB/s from the second level, "
      "the third, memory:\n",
      roofline.gflops, roofline.gigabytes[0], roofline.gigabytes[1], roofline.gigabytes[2]);
  to_stdout("  {:<16} {:>10} {:>10} {:>10} {:>10} {:>11}  {}\n", "block", "MFLOP", "MB from 2", "MB from 3",
            "MB memory", "at least", "limit");
  for (const StageBound& stage : winner.stages) {
    to_stdout("  {:<16} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f} {:>11}  {}\n", stage.block,
              stage.operations * 1e-6, stage.bytes[0] * 1e-6, stage.bytes[1] * 1e-6, stage.bytes[2] * 1e-6,
              microseconds(stage.seconds), to_string(stage.limit));
  }
  to_stdout("  together at least {}; measured {}, {:.0f} % of it accounted for\n",
            microseconds(winner.bound_seconds()), microseconds(seconds),
            100 * winner.bound_seconds() / seconds);
}

void print_rivals(const Explanation& explanation) {
  to_stdout("\nwhat was tried:\n  {:>6} {:>6} {:>12} {:>7} {:>12}  {}\n", "trials", "failed", "best",
            "slower", "at least", "sketch");
  const double best = *explanation.sketches.front().tried.best_seconds;
  for (const Rival& rival : explanation.sketches) {
    const Tried& tried = rival.tried;
    to_stdout("  {:>6} {:>6} {:>12} {:>7} {:>12}  {}\n", tried.trials, tried.failed,
              microseconds(tried.best_seconds),
              tried.best_seconds ? fmt::format("{:.2f}x", *tried.best_seconds / best) : "-",
              rival.stages.empty() ? "-" : microseconds(rival.bound_seconds()), tried.what);
  }
  for (const Tried& kind : explanation.failures) to_stdout("  {} failed: {}\n", kind.trials, kind.what);
}

std::string value_text(const Tried& value, double best) {
  if (!value.best_seconds) return fmt::format("{} (failed)", value.what);
  return fmt::format("{} ({:.2f}x, {} trial{})", value.what, *value.best_seconds / best, value.trials,
                     value.trials == 1 ? "" : "s");
}

void print_values(const Explanation& explanation) {
  if (explanation.parameters.empty()) return;
  to_stdout("\nthe best program with each value, {}:\n", explanation.best.point.sketch);
  const double best = explanation.best.measurement.seconds;
  for (const ParameterTried& parameter : explanation.parameters) {
    std::vector<std::string> values;
    for (const Tried& value : parameter.values) {
      if (values.size() < kValuesShown) values.push_back(value_text(value, best));
    }
    const size_t left = parameter.values.size() - values.size();
    to_stdout("  {:<16} {}{}\n", parameter.name, fmt::join(values, ", "),
              left > 0 ? fmt::format(" and {} more", left) : "");
  }
}

Status explain_summary(const RecordStore& store, const TaskSummary& summary) {
  RecordQuery query;
  query.task_hash = summary.task.hash;
  query.target = summary.target;
  query.cores = summary.cores;
  LATHE_TRY(std::vector<Record> found, store.find(query));
  if (found.empty()) return no_such_task(store, hash_to_string(summary.task.hash));
  LATHE_TRY(Target target, parse_target(summary.target));
  target = with_cores(std::move(target), summary.cores);
  const Comparable compared = comparable(std::move(found), target.machine, compiler_version());
  const std::optional<Roofline> roofline = roofline_of(target, compared.records.front());
  LATHE_TRY(const Explanation explanation, within(store.path(), explain(compared.records, roofline)));
  const Measurement& measurement = explanation.best.measurement;
  to_stdout("task {} {} on {}, {} core{}\n{}", hash_to_string(summary.task.hash), summary.task.name,
            summary.target, summary.cores, summary.cores == 1 ? "" : "s", summary.task.dag);
  to_stdout("best of {} trials: {}, spread {:.1f} %, {:.1f} GFLOP/s of the formula as it is written\n",
            compared.records.size(), microseconds(measurement.seconds), measurement.spread * 100,
            explanation.flops / measurement.seconds * 1e-9);
  print_makers(compared, target.machine);
  if (summary.task.runs_cold)
    to_stdout("timed as one task of a large network: its constants and outputs are not in the caches\n");
  if (summary.task.algorithm == kExactSpecials) {
    to_stdout("kept from algorithms that spread infinities and NaN\n");
  } else if (!summary.task.algorithm.empty()) {
    to_stdout("required to be computed by the algorithm '{}'\n", summary.task.algorithm);
  }
  print_program(explanation);
  if (roofline && !explanation.sketches.front().stages.empty()) print_bounds(explanation, *roofline);
  print_rivals(explanation);
  print_values(explanation);
  return {};
}

Status run(const ExplainOptions& options) {
  LATHE_TRY(const RecordStore store, open_records_to_read(options.file));
  LATHE_TRY(const uint64_t hash, find_task(store, options.task));
  LATHE_TRY(const std::vector<TaskSummary> tasks, store.tasks({.task_hash = hash}));
  bool is_first = true;
  for (const TaskSummary& summary : tasks) {
    if (!is_first) to_stdout("\n");
    LATHE_TRY_STATUS(explain_summary(store, summary));
    is_first = false;
  }
  return {};
}

}  // namespace

void add_explain(CLI::App& app, Action& chosen) {
  OptionSet command = add_command(app, "explain", "say why a task's best program is the best");
  const auto options = std::make_shared<ExplainOptions>();
  command.text("FILE", options->file, "the records file", {.is_required = true});
  command.text("--task", options->task, "the task, as `show` names it; its first digits will do",
               {.is_required = true});
  command.action(chosen, [options] { return run(*options); });
}

}  // namespace lathe::cli
