// lathe compile: a network or operators to artifacts, with the best records or without any.
#include <memory>
#include <string>

#include "cli/artifact_options.h"
#include "cli/command.h"
#include "cli/executable.h"
#include "cli/progress.h"
#include "session/commands/compile_session.h"

namespace lathe::cli {
namespace {

struct CompileCommand {
  ProgramOptions program;
  CompileRequest request;  // but for its source, its check and its worker
  std::string emit = "so";
  std::string check;
};

// What is said goes below the line.
CompileListener listener_on(ProgressLine& line) {
  CompileListener listener;
  listener.done = [&line](size_t done, size_t count, const std::string& what) {
    line.show(done, count, what);
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
  return listener;
}

Status run(const CompileCommand& command) {
  CompileRequest request = command.request;
  LATHE_TRY(request.source, source_of(command.program));
  request.as_sources = command.emit == "c";
  request.check = checked_of(command.check);
  LATHE_TRY(request.worker, beside_executable("lathe-worker"));
  ProgressLine line;
  return compile_artifacts(request, listener_on(line));
}

}  // namespace

void add_compile(CLI::App& app, Action& chosen) {
  OptionSet options = add_command(app, "compile", "compile a model or operators to artifacts");
  const auto command = std::make_shared<CompileCommand>();
  add_program_options(options, command->program);
  options.text("--records", command->request.records, "records to take the best programs from");
  options.text("--out", command->request.out, "the folder to write, one below it for each operator",
               {.is_required = true});
  options.text("--name", command->request.name, kNameHelp);
  options.text("--emit", command->emit, "a library (so), or its kernels as C sources (c)",
               {.shows_default = true, .one_of = {"so", "c"}});
  add_check_option(options, command->check);
  options.number(
      "--tolerance", command->request.tolerance,
      "largest difference from the reference, as a share of its magnitude; default: by the type, the "
      "reduction's length and the algorithm",
      {0, 1});
  add_weights_limit(options, command->request.weights_limit);
  options.action(chosen, [command] { return run(*command); });
}

}  // namespace lathe::cli
