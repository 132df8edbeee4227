// lathe table: every point of a thinned space measured, for searches to be compared on without noise.
#include <fmt/format.h>

#include <memory>

#include "cli/artifact_options.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/executable.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "session/commands/measured_tables.h"
#include "session/commands/record_table.h"

namespace lathe::cli {
namespace {

struct RecordCommand {
  ProgramOptions program;
  RecordTableRequest request;
  std::string layout = "fixed";
};

std::string told_best(double seconds) {
  return seconds > 0 ? fmt::format("best {:.3f} us", seconds * 1e6) : "nothing valid yet";
}

Status record(const RecordCommand& command) {
  RecordTableRequest request = command.request;
  LATHE_TRY(request.source, source_of(command.program));
  LATHE_TRY(request.worker, beside_executable("lathe-worker"));
  request.layouts_are_free = command.layout == "free";
  ProgressLine line;
  RecordTableListener listener;
  listener.progress = [&](const TableProgress& progress) {
    line.show(static_cast<size_t>(progress.recorded), static_cast<size_t>(progress.points),
              fmt::format("{} failed, {}", progress.failed, told_best(progress.best_seconds)));
  };
  listener.note = [&](const std::string& sentence) {
    line.finish();
    report_note(sentence);
  };
  listener.stop = [] { return noted_interrupt() != nullptr; };
  hold_interrupts();
  LATHE_TRY(const RecordedTable recorded, record_table(request, listener));
  release_interrupts();
  line.finish();
  const TableProgress& progress = recorded.progress;
  to_stdout("{} of {} points recorded, {} of them illegal, {} failed, {}\n", progress.recorded,
            progress.points, progress.illegal, progress.failed, told_best(progress.best_seconds));
  if (recorded.is_written) {
    to_stdout("{}: written\n", request.out);
  } else {
    to_stdout("{}: not written yet; the same command goes on\n", request.out);
  }
  return {};
}

Status show(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    LATHE_TRY(const TableOverview overview, table_overview(file));
    const MeasuredTable& table = overview.table;
    to_stdout("{}: {} on {}, {} core{}, by version {}\n  {}\n", file, table.name, table.machine, table.cores,
              table.cores == 1 ? "" : "s", table.compiler_version, table.task.dag);
    for (const TableSketch& sketch : table.sketches)
      to_stdout("  sketch {}: {} points, {} choices\n", sketch.name, sketch.domain.size(),
                sketch.domain.parameters.size());
    to_stdout("  {} points, {} legal, {} of these failed\n", table.size(), overview.legal, overview.failed);
    if (overview.optimum == 0) continue;
    to_stdout("  optimum {:.3f} us, median {:.3f} us\n", overview.optimum * 1e6, overview.median * 1e6);
    to_stdout("  at {}\n", overview.best);
    for (const auto& [share, count] : overview.near_optimum)
      to_stdout("  {:>6} points at {:.0f} % of its speed or more\n", count, share * 100);
  }
  return {};
}

Status verify(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    LATHE_TRY(const int64_t points, verify_table(file));
    to_stdout("{}: all {} points are points of the space\n", file, points);
  }
  return {};
}

}  // namespace

void add_table(CLI::App& app, Action& chosen) {
  CLI::App& group = add_group(app, "table", "measured spaces, on which searches are compared");
  OptionSet recording = add_command(group, "record", "measure every point of a thinned space");
  const auto command = std::make_shared<RecordCommand>();
  recording.text("--workload", command->program.source.workload, "a JSON file of operators",
                 {.is_required = true});
  add_workload_options(recording, command->program);
  recording.text("--space", command->request.space, "whose points", {.shows_default = true});
  recording.number("--points", command->request.points, "so many at most", {.shows_default = true});
  recording.number("--time", command->request.seconds,
                   "seconds; the same command goes on with what is left then", {0, 1e9});
  recording.text("--layout", command->layout, "of activations: free or fixed",
                 {.shows_default = true, .one_of = {"free", "fixed"}});
  recording.text("--records", command->request.records, "the records file", {.shows_default = true});
  recording.text("--out", command->request.out, "the table", {.is_required = true});
  recording.action(chosen, [command] { return record(*command); });

  OptionSet showing = add_command(group, "show", "say what tables hold");
  const auto shown = std::make_shared<std::vector<std::string>>();
  showing.arguments("FILE", *shown, "tables");
  showing.action(chosen, [shown] { return show(*shown); });

  OptionSet verifying = add_command(group, "verify", "check that this version still has a table's points");
  const auto verified = std::make_shared<std::vector<std::string>>();
  verifying.arguments("FILE", *verified, "tables");
  verifying.action(chosen, [verified] { return verify(*verified); });
}

}  // namespace lathe::cli
