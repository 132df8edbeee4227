#include "session/commands/run_artifact.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "artifact/open/npy.h"
#include "artifact/open/profile_artifact.h"
#include "artifact/open/random_inputs.h"
#include "artifact/open/trace_runs.h"
#include "base/code_pages.h"
#include "base/write_file.h"
#include "measure/pinned_thread.h"
#include "session/commands/check_apart.h"
#include "session/measured_roofline.h"
#include "target/detect.h"

namespace lathe {
namespace {

constexpr uint64_t kSeed = 1;
// The first may find caches as something else left them.
constexpr int kTracedRuns = 3;

// A file, and the number of the input or output that it is about.
struct TensorFile {
  size_t index = 0;
  std::string path;
};

// The artifact's inputs or outputs, and the word for one of them: "input".
struct Tensors {
  const char* word;
  const std::vector<ArtifactTensor>& all;

  std::string option() const { return fmt::format("--{}", word); }
};

// Which of them "NAME=X.npy" is about, and the file; none where it is a file alone.
Result<std::optional<TensorFile>> named_file(const Tensors& tensors, const std::string& text) {
  // Names and paths may both hold '=': the artifact's names decide, the longest first.
  std::optional<TensorFile> named;
  size_t longest = 0;
  for (size_t i = 0; i < tensors.all.size(); ++i) {
    const std::string& name = tensors.all[i].name;
    if (!text.starts_with(name + "=") || name.size() < longest) continue;
    named = TensorFile{i, text.substr(name.size() + 1)};
    longest = name.size();
  }
  if (named) return named;
  if (const size_t equals = text.find('='); equals != std::string::npos && text.find('/') > equals) {
    std::vector<std::string> names;
    for (const ArtifactTensor& tensor : tensors.all) names.push_back(tensor.name);
    return fail(ErrorKind::not_found,
                fmt::format("the artifact has no {} '{}'; it has {}", tensors.word, text.substr(0, equals),
                            fmt::join(names, ", ")),
                tensors.option());
  }
  return std::nullopt;
}

// Of what the artifact has, another number was given.
std::unexpected<Error> wrong_count(const Tensors& tensors, size_t given, const char* advice = "") {
  const size_t count = tensors.all.size();
  return fail(ErrorKind::invalid_argument,
              fmt::format("the artifact has {} {}{}, {} {} given{}", count, tensors.word,
                          count == 1 ? "" : "s", given, given == 1 ? "is" : "are", advice),
              tensors.option());
}

// The file of each that has one, in their order: those without a name are for the tensors that no other
// names. There are no more than tensors.
Result<std::vector<TensorFile>> tensor_files(const Tensors& tensors, const std::vector<std::string>& texts) {
  std::vector<std::optional<std::string>> paths(tensors.all.size());
  std::vector<std::string> unnamed;
  for (const std::string& text : texts) {
    LATHE_TRY(const std::optional<TensorFile> named, named_file(tensors, text));
    if (!named) {
      unnamed.push_back(text);
    } else if (paths[named->index]) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("{} '{}' is given twice", tensors.word, tensors.all[named->index].name),
                  tensors.option());
    } else {
      paths[named->index] = named->path;
    }
  }
  std::vector<TensorFile> files;
  auto next = unnamed.begin();
  for (size_t i = 0; i < paths.size(); ++i) {
    if (!paths[i] && next != unnamed.end()) paths[i] = *next++;
    if (!paths[i]) continue;
    if (paths[i]->empty()) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("no file is given for {} '{}'", tensors.word, tensors.all[i].name),
                  tensors.option());
    }
    files.push_back({i, *paths[i]});
  }
  return files;
}

Result<std::vector<TensorFile>> input_files(const LoadedArtifact& artifact, const RunRequest& request) {
  const Tensors inputs{"input", artifact.inputs()};
  const size_t given = request.inputs.size();
  if (request.random ? given > inputs.all.size() : given != inputs.all.size()) {
    return wrong_count(inputs, given, given == 0 ? " (--input X.npy for each, or --random)" : "");
  }
  return tensor_files(inputs, request.inputs);
}

Result<std::vector<TensorFile>> output_files(const LoadedArtifact& artifact, const RunRequest& request) {
  const Tensors outputs{"output", artifact.outputs()};
  if (request.outputs.size() > outputs.all.size()) return wrong_count(outputs, request.outputs.size());
  return tensor_files(outputs, request.outputs);
}

// An output may be none of what is read, and no other output.
Status check_outputs_apart(const std::string& folder, const std::vector<TensorFile>& inputs,
                           const std::vector<TensorFile>& outputs) {
  std::vector<NamedFile> others = artifact_files("DIR", folder);
  for (const TensorFile& input : inputs) others.push_back({"--input", input.path});
  for (const TensorFile& output : outputs) {
    LATHE_TRY_STATUS(check_apart({"--output", output.path}, others));
    others.push_back({"--output", output.path});
  }
  return {};
}

// What is told of the run goes into none of the run's own files.
Status check_reports_apart(const RunRequest& request, const std::vector<TensorFile>& inputs,
                           const std::vector<TensorFile>& outputs) {
  std::vector<NamedFile> others = artifact_files("DIR", request.folder);
  for (const TensorFile& input : inputs) others.push_back({"--input", input.path});
  for (const TensorFile& output : outputs) others.push_back({"--output", output.path});
  LATHE_TRY_STATUS(check_apart({"--json", request.json}, others));
  others.push_back({"--json", request.json});
  return check_apart({"--trace", request.trace}, others);
}

// Those without a file are random.
Status set_inputs(LoadedArtifact& artifact, const std::vector<TensorFile>& inputs,
                  const RunRequest& request) {
  if (request.random) {
    LATHE_TRY_STATUS(
        set_random_inputs(artifact, request.folder, request.seed.value_or(kSeed), "--random", request.sizes));
  }
  for (const TensorFile& input : inputs) {
    LATHE_TRY(NpyArray array, read_npy(input.path));
    LATHE_TRY_STATUS(artifact.set_input(input.index, std::move(array), input.path));
  }
  return {};
}

// The cores that the artifact's kernels use here; none where this machine is none that Lathe knows.
std::optional<Target> target_of(const LoadedArtifact& artifact, size_t cpus) {
  Result<Target> target = detect_target();
  if (!target) return std::nullopt;
  return with_cores(std::move(*target), std::min(artifact.manifest().cores, static_cast<int>(cpus)));
}

// Peaks are those of all the cores: they are taken when the thread may run anywhere again.
KernelTable kernels_of(const LoadedArtifact& artifact, const ArtifactProfile& profile, size_t cpus) {
  const std::optional<Target> target = target_of(artifact, cpus);
  return kernel_table(artifact.manifest(), profile, target.value_or(Target{}),
                      target ? measured_roofline(*target) : std::nullopt);
}

// What the artifact is given and gives.
struct RunFiles {
  std::vector<TensorFile> inputs;
  std::vector<TensorFile> outputs;
};

Result<RunFiles> files_of(const LoadedArtifact& artifact, const RunRequest& request) {
  RunFiles files;
  LATHE_TRY(files.outputs, output_files(artifact, request));
  LATHE_TRY(files.inputs, input_files(artifact, request));
  LATHE_TRY_STATUS(check_outputs_apart(request.folder, files.inputs, files.outputs));
  LATHE_TRY_STATUS(check_reports_apart(request, files.inputs, files.outputs));
  return files;
}

// All that is asked for, on this thread.
Result<std::optional<ArtifactProfile>> run_and_time(LoadedArtifact& artifact, const RunRequest& request,
                                                    const RunFiles& files, RunResult& result) {
  LATHE_TRY_STATUS(set_inputs(artifact, files.inputs, request));
  LATHE_TRY_STATUS(artifact.run());
  for (const TensorFile& output : files.outputs)
    LATHE_TRY_STATUS(write_npy(output.path, artifact.output(output.index)));
  LATHE_TRY(result.latency, measure_latency(artifact, request.repeat));
  if (request.each_run) {
    LATHE_TRY(result.runs, measure_runs(artifact, result.latency));
  }
  std::optional<ArtifactProfile> profile;
  if (request.profile) {
    LATHE_TRY(profile, profile_artifact(artifact, result.latency.samples, result.latency.runs));
  }
  if (!request.trace.empty()) {
    LATHE_TRY(const std::string text, trace_runs(artifact, kTracedRuns));
    LATHE_TRY_STATUS(write_file(request.trace, {text}));
  }
  return profile;
}

Status write_json(const RunResult& result, const std::string& path) {
  nlohmann::ordered_json json = {{"seconds", result.latency.seconds},
                                 {"spread", result.latency.spread},
                                 {"samples", result.latency.samples},
                                 {"runs", result.latency.runs}};
  for (const auto& [name, share] : {std::pair{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}}) {
    if (!result.runs.empty()) json["percentiles"][name] = percentile_of(result.runs, share);
  }
  if (result.kernels) json["profile"] = json_of(*result.kernels);
  return write_file(path, {json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace), "\n"});
}

}  // namespace

Result<RunResult> run_artifact(const RunRequest& request) {
  if (request.seed && !request.random) {
    return fail(ErrorKind::invalid_argument, "the seed is that of --random, which is not given", "--seed");
  }
  if (!request.sizes.empty() && !request.random) {
    return fail(ErrorKind::invalid_argument, "sizes are those of --random, which is not given", "--size");
  }
  const std::vector<int> cpus = allowed_cpus();
  release_code_pages();  // the compiler's are many beside a small model, and a run needs none of them
  LATHE_TRY(LoadedArtifact artifact, LoadedArtifact::open(request.folder, static_cast<int>(cpus.size())));
  if (request.profile || !request.trace.empty()) LATHE_TRY_STATUS(artifact.check_is_timed());
  RunResult result;
  std::optional<ArtifactProfile> profile;
  {
    // The model's own threads exist by now and may run anywhere: they find the other cpus free for good.
    const PinnedThread pinned(cpus.front());
    LATHE_TRY(const RunFiles files, files_of(artifact, request));
    LATHE_TRY(profile, run_and_time(artifact, request, files, result));
  }
  if (profile) result.kernels = kernels_of(artifact, *profile, cpus.size());
  if (!request.json.empty()) LATHE_TRY_STATUS(write_json(result, request.json));
  return result;
}

}  // namespace lathe
