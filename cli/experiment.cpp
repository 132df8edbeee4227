// lathe experiment: searches compared on measured tables, the same on every machine.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/executable.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "session/commands/run_experiment.h"

namespace lathe::cli {
namespace {

struct ExperimentCommand {
  ExperimentRequest request;
  std::optional<int64_t> seeds;
  bool check = false;
};

std::string told_interval(const ConfidenceInterval& interval) {
  return fmt::format("{:.3f} ({:.3f} .. {:.3f})", interval.median, interval.low, interval.high);
}

void print_table(const TableCurves& table) {
  to_stdout("\n{}: optimum {:.3f} us, {} trials, of random search {:.3f} of the optimum's speed\n",
            table.table, table.optimum * 1e6, table.random.size(), table.optimum / table.random.back());
  to_stdout("  {:<28} {:>5}  {:<26} {:<26} {:>12}\n", "run", "seeds", "score", "final quality", "95 % after");
  for (const RunCurves& run : table.runs) {
    const auto reached = trials_until(table, run.run, table.optimum / 0.95);
    to_stdout("  {:<28} {:>5}  {:<26} {:<26} {:>12}\n", run.run, run.best.size(),
              told_interval(score_of(table, run.run)), told_interval(final_quality_of(table, run.run)),
              reached ? fmt::format("{}", *reached) : "-");
  }
}

std::string told_bound(const ExperimentBar& bar) {
  if (bar.at_least && bar.at_most) return fmt::format("{} .. {}", *bar.at_least, *bar.at_most);
  return bar.at_least ? fmt::format("at least {}", *bar.at_least) : fmt::format("at most {}", *bar.at_most);
}

void print_bar(const BarOutcome& outcome) {
  const std::string value = std::isfinite(outcome.value) ? fmt::format("{:.3f}", outcome.value) : "never";
  to_stdout("  {} {:>8}, {}: {}\n", outcome.is_met ? "met   " : "missed", value, told_bound(outcome.bar),
            outcome.bar.claim);
}

Status run(const ExperimentCommand& command) {
  ExperimentRequest request = command.request;
  if (command.seeds) request.seeds = static_cast<int>(*command.seeds);
  LATHE_TRY(request.worker, beside_executable("lathe-worker"));
  ProgressLine line;
  ExperimentListener listener;
  listener.progress = [&](size_t done, size_t count, const std::string& what) {
    line.show(done, count, what);
  };
  listener.stop = [] { return noted_interrupt() != nullptr; };
  hold_interrupts();
  LATHE_TRY(const RunExperiment outcome, run_experiment(request, listener));
  release_interrupts();
  line.finish();
  if (!outcome.is_whole) {
    to_stdout("{}: ended early; the same command goes on\n", outcome.experiment.name);
    return {};
  }
  to_stdout("{}: {}\n", outcome.experiment.name, outcome.experiment.title);
  for (const TableCurves& table : outcome.tables) print_table(table);
  size_t missed = 0;
  if (!outcome.bars.empty()) to_stdout("\nbars\n");
  for (const BarOutcome& bar : outcome.bars) {
    print_bar(bar);
    if (!bar.is_met) ++missed;
  }
  if (!command.check || missed == 0) return {};
  return fail(ErrorKind::invalid_argument,
              fmt::format("{} of {} bars {} missed", missed, outcome.bars.size(), missed == 1 ? "is" : "are"),
              command.request.file);
}

}  // namespace

void add_experiment(CLI::App& app, Action& chosen) {
  OptionSet options = add_command(app, "experiment", "compare searches on measured tables");
  const auto command = std::make_shared<ExperimentCommand>();
  options.text("FILE", command->request.file, "a JSON file (docs/experiment_format.md)",
               {.is_required = true});
  options.text("--tables", command->request.tables, "the folder of its tables; default: its own");
  options.text("--out", command->request.out,
               "keep its searches in that folder, go on with those that are there, and write its figure and "
               "numbers there");
  options.number("--seeds", command->seeds, "so many seeds of each run at most", {1, 10000});
  options.flag("--check", command->check, "fail where a bar is missed");
  options.action(chosen, [command] { return run(*command); });
}

}  // namespace lathe::cli
