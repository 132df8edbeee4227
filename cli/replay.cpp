// lathe replay: a record made again from the records file alone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/executable.h"
#include "session/commands/replay_record.h"

namespace lathe::cli {
namespace {

struct ReplayOptions {
  std::string file;
  int64_t record = 0;
  std::string emit;  // empty: measure it again
};

std::string text_of(const Measurement& measurement) {
  if (measurement.failure) {
    return fmt::format("{}: {}", to_string(measurement.failure->kind), measurement.failure->message);
  }
  return fmt::format("{:.3f} us, spread {:.1f} %", measurement.seconds * 1e6, measurement.spread * 100);
}

Status print_replayed(const Record& record, const std::string& file, const Replayed& replayed) {
  const FullCheck& check = replayed.check;
  const Measurement& now = replayed.now;
  to_stdout("record {}: {} on {}, {} core{}{}\n", record.id, record.task.name, record.target, record.cores,
            record.cores == 1 ? "" : "s", record.task.runs_cold ? ", timed cold" : "");
  to_stdout("recorded: {}\n", text_of(record.measurement));
  const std::optional<MeasureFailure>& failure = check.failure ? check.failure : now.failure;
  if (failure) return fail(failure->kind, failure->message, fmt::format("{}: record {}", file, record.id));
  to_stdout("now:      {}{}\n", text_of(now),
            record.measurement.ok()
                ? fmt::format(", {:.3f} of the recorded time", now.seconds / record.measurement.seconds)
                : "");
  to_stdout(
      "outputs:  all agree with the reference, largest difference {:.1e} of its magnitude "
      "({:.1e} allowed)\n",
      check.largest_difference, check.tolerance);
  return {};
}

Status run(const ReplayOptions& options) {
  LATHE_TRY(const Record record, find_record(options.file, options.record));
  if (options.emit.empty()) {
    LATHE_TRY(const std::string worker, beside_executable("lathe-worker"));
    LATHE_TRY(const Replayed replayed, replay(record, options.file, worker));
    return print_replayed(record, options.file, replayed);
  }
  LATHE_TRY(const std::string text, record_text(record, options.file, options.emit));
  to_stdout("{}", text);
  return {};
}

}  // namespace

void add_replay(CLI::App& app, Action& chosen) {
  OptionSet command = add_command(app, "replay", "measure a recorded program again, or print it");
  const auto options = std::make_shared<ReplayOptions>();
  command.text("FILE", options->file, "the records file", {.is_required = true});
  command.number("--record", options->record, "the record's number", {.is_required = true});
  command.text("--emit", options->emit, fmt::format("print it instead: {}", fmt::join(code_forms(), ", ")),
               {.one_of = code_forms()});
  command.action(chosen, [options] { return run(*options); });
}

}  // namespace lathe::cli
