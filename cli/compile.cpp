// lathe compile: a network or operators to artifacts, with the best records or without any.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "artifact/compile_model.h"
#include "artifact/write_artifact.h"
#include "cli/command.h"
#include "cli/measuring.h"
#include "cli/open_records.h"
#include "cli/progress.h"
#include "cli/write_model.h"
#include "target/all.h"
#include "tune/select_workloads.h"

namespace lathe::cli {
namespace {

struct CompileOptions {
  ProgramOptions program;
  std::string records;
  std::string out;
  std::string name;
  std::string emit = "so";
  std::string check;
  std::optional<double> tolerance;
  std::optional<double> weights_limit;
};

// A file of another version, target or number of cores would else be passed over in silence.
std::optional<std::string> untuned_note(const Model& model, const std::string& records) {
  const auto untuned = std::ranges::count_if(
      model.kernels, [](const CompiledTask& kernel) { return !kernel.record && !kernel.outran_records; });
  if (records.empty() || untuned == 0) return std::nullopt;
  return fmt::format("{}: kernels that {} has no usable program for, compiled untuned: {} of {}", model.name,
                     records, untuned, model.kernels.size());
}

Status write(Model model, const CompileOptions& options, const std::string& folder) {
  if (!options.name.empty()) model.name = options.name;
  return options.emit == "c" ? write_model_sources(std::move(model), folder)
                             : write_model(std::move(model), folder);
}

Status compile_workload(const Workload& workload, const CompileOptions& options,
                        const CompileModelOptions& model_options, ProgressLine& line,
                        std::vector<std::string>& notes) {
  LATHE_TRY(Model model, compile_operator(workload, model_options));
  line.finish();
  if (auto note = untuned_note(model, options.records)) notes.push_back(std::move(*note));
  if (auto note = uncompared_note(model)) notes.push_back(std::move(*note));
  return write(std::move(model), options, folder_below(options.out, workload.name));
}

// Nothing where the programs are for another machine: then none is run.
Result<std::optional<Measurer>> measurer_for(const Target& target) {
  std::optional<Measurer> measurer;
  if (!check_runs_here(target)) {
    report_note(fmt::format("this machine does not run {}: nothing is compared with a reference or timed",
                            target.name));
    return measurer;
  }
  LATHE_TRY(measurer, start_measurer(cores_of(target), KeptInputs::present));
  return measurer;
}

// One that fails keeps none of the others from being written.
Status compile_workloads(const CompileOptions& options, CompileModelOptions model_options) {
  LATHE_TRY(const std::vector<Workload> workloads,
            select_workloads(options.program.workload, options.program.filter));
  LATHE_TRY_STATUS(check_name(options.name, workloads.size()));
  const std::vector<NamedFile> read = files_read(options.program, options.records);
  for (const Workload& workload : workloads) {
    LATHE_TRY_STATUS(check_artifact_apart(folder_below(options.out, workload.name), read));
    LATHE_TRY_STATUS(check_folder(folder_below(options.out, workload.name)));
  }
  LATHE_TRY(std::optional<Measurer> measurer, measurer_for(model_options.target));
  if (measurer) model_options.runner = &*measurer;
  ProgressLine line;
  std::vector<std::string> notes;
  std::vector<Error> errors;
  for (size_t i = 0; i < workloads.size(); ++i) {
    model_options.watch.observer = [&](const WorkState& state) {
      line.show_work(i, workloads.size(), state);
    };
    const Status done = compile_workload(workloads[i], options, model_options, line, notes);
    if (!done) errors.push_back(done.error());
    if (done) line.show(i + 1, workloads.size(), workloads[i].name);
  }
  line.finish();
  for (const std::string& note : notes) report_rejected(note);
  if (errors.empty()) return {};
  // The last is the command's own, which is told like any other.
  for (size_t i = 0; i + 1 < errors.size(); ++i) report_rejected(errors[i].to_string());
  return std::unexpected(errors.back());
}

// Its measurer and the network's constants are gone when the model is written and run: what that takes need
// not be there beside them.
Result<Model> compiled_model(const CompileOptions& options, CompileModelOptions model_options) {
  LATHE_TRY_STATUS(check_name(options.name, 1));
  LATHE_TRY_STATUS(check_artifact_apart(options.out, files_read(options.program, options.records)));
  LATHE_TRY(const OnnxImportOptions import, import_options(options.program));
  LATHE_TRY(Network network, load_network(options.program.model, import, model_options.target,
                                          options.program.exact_specials));
  LATHE_TRY_STATUS(check_artifact_apart(options.out, data_files(network.graph)));
  LATHE_TRY_STATUS(check_folder(options.out));
  for (const std::string& note : network.graph.notes) report_rejected(note);
  LATHE_TRY(std::optional<Measurer> measurer, measurer_for(model_options.target));
  if (measurer) model_options.runner = &*measurer;
  ProgressLine line;
  size_t compiled = 0;
  model_options.progress = [&](size_t done, size_t all) {
    compiled = done;
    line.show(done, all, "tasks compiled");
  };
  model_options.watch.observer = [&](const WorkState& state) {
    line.show_work(compiled, network.tasks.tasks.size(), state);
  };
  LATHE_TRY(Model model, compile_network(network, model_options));
  line.finish();
  if (const auto note = untuned_note(model, options.records)) report_rejected(*note);
  if (const auto note = uncompared_note(model)) report_rejected(*note);
  return model;
}

Status run(const CompileOptions& options) {
  LATHE_TRY_STATUS(check(options.program));
  CompileModelOptions model_options;
  LATHE_TRY(model_options.target, target_of(options.program));
  model_options.rejected = report_rejected;
  model_options.tolerance = options.tolerance;
  model_options.check = checked_of(options.check);
  model_options.exact_specials = options.program.exact_specials;
  model_options.note = report_note;
  if (options.weights_limit) model_options.weights_limit = *options.weights_limit;
  std::optional<RecordStore> records;
  if (!options.records.empty()) {
    LATHE_TRY(records, open_records_to_read(options.records));
    model_options.records = &*records;
  }
  if (options.program.model.empty()) return compile_workloads(options, std::move(model_options));
  LATHE_TRY(Model model, compiled_model(options, std::move(model_options)));
  return write(std::move(model), options, options.out);
}

}  // namespace

void add_compile(CLI::App& app, Action& chosen) {
  OptionSet command = add_command(app, "compile", "compile a model or operators to artifacts");
  const auto options = std::make_shared<CompileOptions>();
  add_program_options(command, options->program);
  command.text("--records", options->records, "records to take the best programs from");
  command.text("--out", options->out, "the folder to write, one below it for each operator",
               {.is_required = true});
  command.text("--name", options->name, kNameHelp);
  command.text("--emit", options->emit, "a library (so), or its kernels as C sources (c)",
               {.shows_default = true, .one_of = {"so", "c"}});
  add_check_option(command, options->check);
  command.number(
      "--tolerance", options->tolerance,
      "largest difference from the reference, as a share of its magnitude; default: by the type, the "
      "reduction's length and the algorithm",
      {0, 1});
  add_weights_limit(command, options->weights_limit);
  command.action(chosen, [options] { return run(*options); });
}

}  // namespace lathe::cli
