// How the command line is put together: each command's file adds its options to the app and, if the command
// was given, leaves behind what is to be done. Only this folder reads the environment and prints.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/check_apart.h"
#include "cli/options.h"
#include "graph/onnx_import.h"
#include "target/target.h"

namespace lathe::cli {

void add_tune(CLI::App& app, Action& chosen);
void add_bench(CLI::App& app, Action& chosen);
void add_compile(CLI::App& app, Action& chosen);
void add_run(CLI::App& app, Action& chosen);
void add_verify(CLI::App& app, Action& chosen);
void add_show(CLI::App& app, Action& chosen);
void add_replay(CLI::App& app, Action& chosen);
void add_explain(CLI::App& app, Action& chosen);
void add_records(CLI::App& app, Action& chosen);
void add_target(CLI::App& app, Action& chosen);

// The options that say what is compiled and for which machine: MODEL.onnx or --workload, --input, --filter,
// --target, --cores, --exact-specials.
struct ProgramOptions {
  std::string model;
  std::vector<std::string> inputs;  // NAME=1,3,224,224
  std::string workload;
  std::string filter;
  std::string target = "native";
  int cores = 0;  // 0: those of the target
  bool exact_specials = false;
};
void add_program_options(OptionSet& command, ProgramOptions& options);
// Those of them that go with a workload file, which the command declares itself.
void add_workload_options(OptionSet& command, ProgramOptions& options);
// An Error unless exactly one of MODEL.onnx and --workload is given, and their own options with them alone.
Status check(const ProgramOptions& options);
// The files that they name, and the records file.
std::vector<NamedFile> files_read(const ProgramOptions& options, const std::string& records);
// The files beside the model that its constants came from.
std::vector<NamedFile> data_files(const Graph& graph);
// What --target and --cores say. An Error where this machine runs it and has fewer cpus in its affinity mask.
Result<Target> target_of(const ProgramOptions& options);
// The same for programs that are to run here: an Error where they cannot.
Result<Target> target_here(const ProgramOptions& options);
Result<OnnxImportOptions> import_options(const ProgramOptions& options);

}  // namespace lathe::cli
