// lathe bench: what the best recorded programs of operators take now, on this machine.
#include <fmt/format.h>

#include <memory>

#include "cli/artifact_options.h"
#include "cli/bench_peers.h"
#include "cli/command.h"
#include "cli/executable.h"
#include "cli/progress.h"
#include "cli/tune_report.h"
#include "session/commands/bench_session.h"

namespace lathe::cli {
namespace {

struct BenchCommand {
  ProgramOptions program;
  BenchRequest request;  // but for what the program options and this machine say
  std::string json;
  bool with_peers = false;
};

Status run(const BenchCommand& command) {
  BenchRequest request = command.request;
  request.source = command.program.source;
  LATHE_TRY_STATUS(check_apart({"--json", command.json}, files_read(request.source, request.records)));
  LATHE_TRY(request.target, target_here(request.source));
  if (command.with_peers) {
    LATHE_TRY(request.peers_folder, beside_executable("peers"));
    LATHE_TRY_STATUS(prepare_peers(request.target, request.peers_folder));
  }
  LATHE_TRY(request.worker, beside_executable("lathe-worker"));
  ProgressLine line;
  BenchListener listener;
  listener.turn = [&line](size_t turn, size_t count, const std::string& name) {
    line.show(turn, count, name);
  };
  listener.peers = report_peers;
  listener.rejected = report_rejected;
  listener.note = report_note;
  LATHE_TRY(const BenchOutcome outcome, bench(request, listener));
  line.finish();
  print_report(outcome.rows, request.target);
  report_left_out(outcome.rows);
  report_failures(outcome.rows);
  if (!command.json.empty()) LATHE_TRY_STATUS(write_report(outcome.rows, command.json));
  return outcome.all_measured;
}

}  // namespace

void add_bench(CLI::App& app, Action& chosen) {
  OptionSet options = add_command(app, "bench", "measure the best recorded programs of operators again");
  const auto command = std::make_shared<BenchCommand>();
  options.text("--workload", command->program.source.workload, "a JSON file of operators",
               {.is_required = true});
  add_workload_options(options, command->program);
  options.text("--records", command->request.records, "the records file", {.shows_default = true});
  options.number("--rounds", command->request.rounds,
                 "how often each is measured, three times in turns with its peers", {1, 1000},
                 {.shows_default = true});
  options.flag("--peers", command->with_peers,
               "measure other libraries in turns with them: those whose plug-ins are in the folder peers/");
  options.text("--json", command->json, "write the results there");
  options.action(chosen, [command] { return run(*command); });
}

}  // namespace lathe::cli
