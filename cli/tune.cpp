// lathe tune: searches fast programs for a network's tasks or for operators, and keeps what it measures.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include "cli/artifact_options.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/executable.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/tune_report.h"
#include "session/commands/tune_session.h"

namespace lathe::cli {
namespace {

struct TuneCommand {
  ProgramOptions program;
  TuneRequest request;  // but for its source, its check and its worker
  std::string check;
};

// How long the search still takes: until its deadline, or as long as the trials so far let expect.
std::string time_left(const TuneState& state, const Deadline& deadline, double seconds) {
  const double until_deadline = deadline.seconds_left();
  if (std::isfinite(until_deadline)) return ", " + told_seconds(std::max(0.0, until_deadline)) + " left";
  // Once all trials are done what the rest takes is nothing that they tell.
  constexpr double kTelling = 0.02;
  if (state.share < kTelling || state.share >= 1) return "";
  return fmt::format(", about {} of trials left", told_seconds(seconds * (1 - state.share) / state.share));
}

std::string state_text(const TuneState& state, const std::string& left) {
  const TuneProgress& progress = state.progress;
  const std::string best = progress.best_seconds > 0
                               ? fmt::format("best {:.3f} us", progress.best_seconds * 1e6)
                               : "no program yet";
  if (state.is_concluding)
    return fmt::format("{}: the best programs once more, {}{}", state.name, best, left);
  return fmt::format("{}: {} trials, {} failed, {}{}", state.name, progress.trials, progress.failed, best,
                     left);
}

using Clock = std::chrono::steady_clock;

void show_state(ProgressLine& line, const TuneState& state, const Deadline& deadline,
                Clock::time_point start) {
  if (state.work) {
    WorkState work = *state.work;
    work.what = fmt::format("{}: {}", state.name, work.what);
    line.show_work(state.index + 1, state.count, work);
    return;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  line.show(state.index + 1, state.count, state_text(state, time_left(state, deadline, seconds)));
}

// What is said goes below the line.
TuneListener listener_on(ProgressLine& line, const Deadline& deadline) {
  TuneListener listener;
  listener.state = [&line, deadline, start = Clock::now()](const TuneState& state) {
    show_state(line, state, deadline, start);
  };
  listener.work = [&line](size_t done, size_t count, const WorkState& state) {
    line.show_work(done, count, state);
  };
  listener.written = [&line](const WrittenModel& written) {
    line.finish();
    print_written(written);
  };
  listener.rejected = [&line](const std::string& sentence) {
    line.finish();
    report_rejected(sentence);
  };
  listener.note = [&line](const std::string& sentence) {
    line.finish();
    report_note(sentence);
  };
  listener.stop = [] { return noted_interrupt() != nullptr; };
  return listener;
}

// Says which options that were given change nothing.
void note_idle_options(const TuneCommand& command, const OptionSet& options) {
  const bool is_network = !command.program.source.model.empty();
  if (is_network && options.has("--layout") && command.request.layout == "free")
    to_stderr("lathe: note: --layout free has no effect here: a network's tasks have fixed layouts\n");
  if (is_network && options.has("--case-time"))
    to_stderr("lathe: note: --case-time has no effect here: a network's tasks share --time\n");
  if (!is_network && options.has("--scheduler"))
    to_stderr("lathe: note: --scheduler has no effect here: operators are tuned one after another\n");
}

// The report may lie in a folder of the artifacts, which are written first.
Status write(TuneSession& session, const TuneCommand& command, const std::vector<CaseReport>& rows) {
  Status written;
  const bool has_artifacts = !command.request.out.empty();
  if (has_artifacts) written = session.write(rows);
  if (!command.request.json.empty())
    written = joined(written, write_report(rows, command.request.json), report_rejected);
  return joined(written, check_all_found(rows, has_artifacts), report_rejected);
}

Status run(const TuneCommand& command, const OptionSet& options) {
  TuneRequest request = command.request;
  const Deadline deadline = request.seconds ? Deadline::in(*request.seconds) : Deadline();
  LATHE_TRY_STATUS(check_task_scheduler(request.scheduler));
  note_idle_options(command, options);
  LATHE_TRY(request.source, source_of(command.program));
  request.check = checked_of(command.check);
  LATHE_TRY(request.worker, beside_executable("lathe-worker"));
  ProgressLine line;
  LATHE_TRY(TuneSession session, TuneSession::start(std::move(request), listener_on(line, deadline)));
  hold_interrupts();
  LATHE_TRY(const std::vector<CaseReport> rows, session.tune());
  release_interrupts();
  line.finish();
  print_report(rows, session.target());
  if (const char* signal = noted_interrupt()) {
    report_stop(signal, command.request.records);
    return {};
  }
  report_enough(rows);
  report_sampled(rows);
  report_failures(rows);
  warn_of_noise(rows);
  report_untried(rows, !command.request.out.empty());
  warn_of_untuned(rows);
  const Status status = write(session, command, rows);
  line.finish();
  return status;
}

}  // namespace

void add_tune(CLI::App& app, Action& chosen) {
  OptionSet options = add_command(app, "tune", "search fast programs for a model or operators");
  const auto command = std::make_shared<TuneCommand>();
  add_program_options(options, command->program);
  options.number(
      "--trials", command->request.trials,
      "measured candidates per task, those in the records included; default: 64, any number with --time",
      {1, int64_t{1} << 40});
  options.number(
      "--time", command->request.seconds,
      "seconds for the whole command, with artifacts; what there is no time for is left out and said",
      {0, 1e9});
  options.number("--case-time", command->request.case_seconds,
                 "seconds for the trials of each case of a workload at most", {0, 1e9});
  options.number(
      "--enough", command->request.enough,
      fmt::format("a task's search ends once its best program has so many per cent of the speed that "
                  "the machine's peaks allow; default: {}, 0: never",
                  kEnough)
          .c_str(),
      {0, 100});
  options.number("--seed", command->request.search.seed, "of the search", {.shows_default = true});
  options.text("--space", command->request.search.space, "which programs are searched",
               {.shows_default = true});
  options.text("--strategy", command->request.search.strategy, "who to try next", {.shows_default = true});
  options.text("--cost-model", command->request.search.cost_model, "what ranks candidates",
               {.shows_default = true});
  options.text("--scheduler", command->request.scheduler, "how a network's tasks share the trials",
               {.shows_default = true});
  options.text(
      "--layout", command->request.layout,
      "of activations in operators: free or fixed; default: free, with --out both, half of the trials "
      "each",
      {.one_of = {"free", "fixed"}});
  options.number(
      "--tolerance", command->request.search.tolerance,
      "largest difference from the reference, as a share of its magnitude; default: by the type, the "
      "reduction's length and the algorithm",
      {0, 1});
  add_weights_limit(options, command->request.weights_limit);
  options.text("--records", command->request.records, "the records file", {.shows_default = true});
  options.text("--json", command->request.json, "write the results there, at the end");
  options.text("--out", command->request.out, "write artifacts there, when all tuning is done");
  add_check_option(options, command->check);
  options.text("--name", command->request.name, kNameHelp);
  options.action(chosen, [command, options] { return run(*command, options); });
}

}  // namespace lathe::cli
