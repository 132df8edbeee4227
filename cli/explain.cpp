// lathe explain: a task's best program in words, where its time goes, and what else was tried.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/compiler_version.h"
#include "base/hash.h"
#include "cli/artifact_options.h"
#include "cli/command.h"
#include "cli/console.h"
#include "session/commands/explain_tasks.h"
#include "session/commands/space_sizes.h"

namespace lathe::cli {
namespace {

constexpr size_t kValuesShown = 5;

struct ExplainOptions {
  std::string file;
  std::string task;
  std::string space;
  bool sizes = false;
  ProgramOptions program;  // of a workload, with `space`
};

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

void print_task(const ExplainedTask& task) {
  const TaskSummary& summary = task.summary;
  const Explanation& explanation = task.explanation;
  const Measurement& measurement = explanation.best.measurement;
  to_stdout("task {} {} on {}, {} core{}\n{}", hash_to_string(summary.task.hash), summary.task.name,
            summary.target, summary.cores, summary.cores == 1 ? "" : "s", summary.task.dag);
  to_stdout("best of {} trials: {}, spread {:.1f} %, {:.1f} GFLOP/s of the formula as it is written\n",
            task.compared.records.size(), microseconds(measurement.seconds), measurement.spread * 100,
            explanation.flops / measurement.seconds * 1e-9);
  print_makers(task.compared, task.machine_here);
  if (summary.task.runs_cold)
    to_stdout("timed as one task of a large network: its constants and outputs are not in the caches\n");
  if (summary.task.algorithm == kExactSpecials) {
    to_stdout("kept from algorithms that spread infinities and NaN\n");
  } else if (!summary.task.algorithm.empty()) {
    to_stdout("required to be computed by the algorithm '{}'\n", summary.task.algorithm);
  }
  print_program(explanation);
  if (task.roofline && !explanation.sketches.front().stages.empty())
    print_bounds(explanation, *task.roofline);
  print_rivals(explanation);
  print_values(explanation);
}

void print_size(const SpaceSize& size, bool with_sizes) {
  const std::string beside = size.paper.empty() ? "" : fmt::format(" ({})", size.paper);
  if (!size.reason.empty()) {
    to_stdout("{}: no program: {}{}\n", size.name, size.reason, beside);
    return;
  }
  to_stdout("{}: {} sketch{}, {:.3g} points{}\n", size.name, size.sketches.size(),
            size.sketches.size() == 1 ? "" : "es", size.points, beside);
  for (const SketchSize& sketch : size.sketches) {
    if (with_sizes) {
      to_stdout("  {:>12.3g} points of {:>2} choices  {}\n", static_cast<double>(sketch.points),
                sketch.choices, sketch.name);
    } else {
      to_stdout("  {}\n", sketch.name);
    }
  }
}

void print_range(const std::vector<SpaceSize>& tasks) {
  const auto count = [](const SpaceSize& size) { return size.sketches.size(); };
  to_stdout("{} task{}, of {} to {} sketches\n", tasks.size(), tasks.size() == 1 ? "" : "s",
            count(std::ranges::min(tasks, {}, count)), count(std::ranges::max(tasks, {}, count)));
}

Status run_space(const ExplainOptions& options) {
  if (!options.task.empty())
    return fail(ErrorKind::invalid_argument,
                "with --space there is no --task: a model or --workload says whose sketches are meant");
  ProgramOptions program = options.program;
  program.source.model = options.file;
  LATHE_TRY(const ProgramSource source, source_of(program));
  LATHE_TRY(const std::vector<SpaceSize> sizes, space_sizes(source, options.space));
  for (const SpaceSize& size : sizes) print_size(size, options.sizes);
  if (!source.model.empty() && !sizes.empty()) print_range(sizes);
  return {};
}

Status run(const ExplainOptions& options) {
  if (!options.space.empty()) return run_space(options);
  if (options.sizes || !options.program.source.workload.empty())
    return fail(ErrorKind::invalid_argument, "--sizes and --workload go with --space");
  if (options.file.empty()) return fail(ErrorKind::invalid_argument, "FILE is required");
  if (options.task.empty()) return fail(ErrorKind::invalid_argument, "--task is required");
  bool is_first = true;
  return explain_tasks(options.file, options.task, report_note, [&](const ExplainedTask& task) {
    if (!is_first) to_stdout("\n");
    print_task(task);
    is_first = false;
  });
}

}  // namespace

void add_explain(CLI::App& app, Action& chosen) {
  OptionSet command =
      add_command(app, "explain", "say why a task's best program is the best, or what a space holds");
  const auto options = std::make_shared<ExplainOptions>();
  command.text("FILE", options->file, "the records file; with --space an ONNX model");
  command.text("--task", options->task, "the task, as `show` names it; its first digits will do");
  command.text("--space", options->space, "in place of a task: the sketches of that space");
  command.flag("--sizes", options->sizes, "how many points each sketch of --space has");
  command.text("--workload", options->program.source.workload, "a JSON file of operators, for --space");
  add_workload_options(command, options->program);
  command.action(chosen, [options] { return run(*options); });
}

}  // namespace lathe::cli
