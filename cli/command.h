// How the command line is put together: each command's file adds its options to the app and, if the command
// was given, leaves behind what is to be done. Only this folder reads the environment and prints.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "session/program_source.h"

namespace lathe::cli {

void add_tune(CLI::App& app, Action& chosen);
void add_bench(CLI::App& app, Action& chosen);
void add_compile(CLI::App& app, Action& chosen);
void add_run(CLI::App& app, Action& chosen);
void add_verify(CLI::App& app, Action& chosen);
void add_show(CLI::App& app, Action& chosen);
void add_replay(CLI::App& app, Action& chosen);
void add_explain(CLI::App& app, Action& chosen);
void add_report(CLI::App& app, Action& chosen);
void add_records(CLI::App& app, Action& chosen);
void add_table(CLI::App& app, Action& chosen);
void add_experiment(CLI::App& app, Action& chosen);
void add_model(CLI::App& app, Action& chosen);
void add_target(CLI::App& app, Action& chosen);

// The options that say what is compiled and for which machine: MODEL.onnx or --workload, --input, --filter,
// --target, --cores, --exact-specials.
struct ProgramOptions {
  ProgramSource source;             // without the shapes of inputs
  std::vector<std::string> inputs;  // NAME=1,3,224,224
};
void add_program_options(OptionSet& command, ProgramOptions& options);
// Those of them that go with a workload file, which the command declares itself.
void add_workload_options(OptionSet& command, ProgramOptions& options);
// What they say, checked (check_source).
Result<ProgramSource> source_of(const ProgramOptions& options);

}  // namespace lathe::cli
