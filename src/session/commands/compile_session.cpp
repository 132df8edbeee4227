#include "session/commands/compile_session.h"

#include <fmt/format.h>

#include <vector>

#include "artifact/write/write_artifact.h"
#include "session/commands/check_destinations.h"
#include "session/commands/precision_error.h"
#include "session/commands/write_network.h"
#include "session/load_source.h"
#include "session/open_records.h"
#include "session/start_measurer.h"
#include "target/all.h"

namespace lathe {
namespace {

// Tells of the run of an artifact, and of what else lasts once its programs are compiled.
WorkObserver observer_of_run(const CompileListener& listener) {
  return [&listener](const WorkState& state) {
    if (listener.work) listener.work(0, 1, state);
  };
}

// What was written is told of, with how far its precision is off where there is a reference.
Status finish(WrittenModel written, const CompileRequest& request, const CompileListener& listener,
              const PrecisionReference* reference) {
  if (reference != nullptr) {
    LATHE_TRY(written.precision, state_error(*reference, written.folder, request.source.precision));
  }
  if (listener.written) listener.written(written);
  return {};
}

Status write(Model model, const CompileRequest& request, const CompileListener& listener,
             const std::string& folder, const PrecisionReference* reference = nullptr) {
  if (!request.name.empty()) model.name = request.name;
  LATHE_TRY(WrittenModel written, request.as_sources
                                      ? write_model_sources(std::move(model), folder)
                                      : write_model(std::move(model), folder, {}, observer_of_run(listener)));
  return finish(std::move(written), request, listener, reference);
}

// Nothing where the programs are for another machine: then none is run.
Result<std::optional<Measurer>> measurer_for(const Target& target, const CompileRequest& request,
                                             const CompileListener& listener) {
  std::optional<Measurer> measurer;
  if (!check_runs_here(target)) {
    tell(listener.note,
         fmt::format("this machine does not run {}: nothing is compared with a reference or timed",
                     target.name));
    return measurer;
  }
  LATHE_TRY(measurer, start_measurer(request.worker, cores_of(target), KeptInputs::present));
  return measurer;
}

Status compile_workload(const Workload& workload, const CompileRequest& request,
                        const CompileListener& listener, const CompileModelOptions& options,
                        std::vector<std::string>& notes) {
  LATHE_TRY(Model model, compile_operator(workload, options));
  if (auto note = untuned_note(model, request.records)) notes.push_back(std::move(*note));
  if (auto note = uncompared_note(model)) notes.push_back(std::move(*note));
  return write(std::move(model), request, listener, folder_below(request.out, workload.name));
}

Status compile_workloads(const CompileRequest& request, const CompileListener& listener,
                         CompileModelOptions options) {
  LATHE_TRY(const std::vector<Workload> workloads, load_workloads(request.source));
  LATHE_TRY_STATUS(check_name(request.name, workloads.size()));
  const std::vector<NamedFile> read = files_read(request.source, request.records);
  for (const Workload& workload : workloads) {
    LATHE_TRY_STATUS(check_artifact_apart(folder_below(request.out, workload.name), read));
    LATHE_TRY_STATUS(check_destinations({folder_below(request.out, workload.name)}, ""));
  }
  LATHE_TRY(std::optional<Measurer> measurer, measurer_for(options.target, request, listener));
  if (measurer) options.runner = &*measurer;
  std::vector<std::string> notes;
  std::vector<Error> errors;
  for (size_t i = 0; i < workloads.size(); ++i) {
    options.watch.observer = [&](const WorkState& state) {
      if (listener.work) listener.work(i, workloads.size(), state);
    };
    const Status done = compile_workload(workloads[i], request, listener, options, notes);
    if (!done) errors.push_back(done.error());
    if (done && listener.done) listener.done(i + 1, workloads.size(), workloads[i].name);
  }
  for (const std::string& note : notes) tell(listener.rejected, note);
  if (errors.empty()) return {};
  // The last is the command's own, which is told like any other.
  for (size_t i = 0; i + 1 < errors.size(); ++i) tell(listener.rejected, errors[i].to_string());
  return std::unexpected(errors.back());
}

// What a network gives in its own types, to say how far it is off in the precision that it is asked for; none
// without one, and where nothing is run.
Result<std::optional<PrecisionReference>> precision_reference(const CompileRequest& request,
                                                              const Target& target,
                                                              const CompileListener& listener) {
  if (request.source.precision.empty() || request.as_sources || !check_runs_here(target)) return std::nullopt;
  LATHE_TRY_STATUS(check_destinations({request.out}, ""));
  LATHE_TRY(Measurer measurer, start_measurer(request.worker, cores_of(target), KeptInputs::present));
  Watch watch;
  watch.observer = [&](const WorkState& state) {
    if (listener.work) listener.work(0, 1, state);
  };
  return PrecisionReference::make(request.source, target, measurer, request.out, watch);
}

// The model that is still to be written: its measurer and the network's constants are gone then, since what
// that takes need not be there beside them. With records it is written here, after its programs have raced.
Result<std::optional<Model>> compile_file(const CompileRequest& request, const CompileListener& listener,
                                          CompileModelOptions options, const PrecisionReference* reference) {
  LATHE_TRY_STATUS(check_name(request.name, 1));
  LATHE_TRY_STATUS(check_artifact_apart(request.out, files_read(request.source, request.records)));
  LATHE_TRY(const Network network, load_network(request.source, options.target));
  LATHE_TRY_STATUS(check_artifact_apart(request.out, data_files(network.graph)));
  LATHE_TRY_STATUS(check_destinations({request.out}, ""));
  if (request.as_sources && !network.free.empty())
    return fail(ErrorKind::unsupported,
                "kernels as C sources are those of one size each: sizes are free in a library alone",
                "--emit");
  for (const std::string& note : network.graph.notes) tell(listener.note, note);
  LATHE_TRY(std::optional<Measurer> measurer, measurer_for(options.target, request, listener));
  if (measurer) {
    options.runner = &*measurer;
    options.another_runner = more_measurers(request.worker, cores_of(options.target));
  }
  size_t compiled = 0;
  options.progress = [&](size_t done, size_t all) {
    compiled = done;
    if (listener.done) listener.done(done, all, "tasks compiled");
  };
  options.watch.observer = [&](const WorkState& state) {
    if (listener.work) listener.work(compiled, network.tasks.tasks.size(), state);
  };
  if (options.records != nullptr && measurer && !request.as_sources) {
    LATHE_TRY(WrittenNetwork done,
              write_network(network, options,
                            {.path = request.out, .name = request.name, .work = observer_of_run(listener)}));
    for (const auto& note : {done.untuned, done.uncompared})
      if (note) tell(listener.rejected, *note);
    LATHE_TRY_STATUS(finish(std::move(done.model), request, listener, reference));
    return std::nullopt;
  }
  LATHE_TRY(Model model, compile_network(network, options));
  if (const auto note = untuned_note(model, request.records)) tell(listener.rejected, *note);
  if (const auto note = uncompared_note(model)) tell(listener.rejected, *note);
  return model;
}

}  // namespace

Status compile_artifacts(const CompileRequest& request, const CompileListener& listener) {
  LATHE_TRY_STATUS(check_source(request.source));
  CompileModelOptions options;
  LATHE_TRY(options.target, target_of(request.source));
  options.rejected = [&](const std::string& sentence) { tell(listener.rejected, sentence); };
  options.note = [&](const std::string& sentence) { tell(listener.note, sentence); };
  options.tolerance = request.tolerance;
  options.check = request.check;
  options.exact_specials = request.source.exact_specials;
  if (request.weights_limit) options.weights_limit = *request.weights_limit;
  std::optional<RecordStore> records;
  if (!request.records.empty()) {
    LATHE_TRY(records, open_records_to_read(request.records, listener.note));
    options.records = &*records;
  }
  if (request.source.model.empty()) return compile_workloads(request, listener, std::move(options));
  LATHE_TRY(const auto reference, precision_reference(request, options.target, listener));
  const PrecisionReference* known = reference ? &*reference : nullptr;
  LATHE_TRY(std::optional<Model> model, compile_file(request, listener, std::move(options), known));
  return model ? write(std::move(*model), request, listener, request.out, known) : Status();
}

}  // namespace lathe
