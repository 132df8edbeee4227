// lathe run: an artifact on inputs from .npy files, and how long it takes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>

#include "artifact/loaded_artifact.h"
#include "artifact/npy.h"
#include "artifact/random_inputs.h"
#include "cli/check_apart.h"
#include "cli/command.h"
#include "cli/latency.h"
#include "measure/pinned_thread.h"
#include "target/detect.h"

namespace lathe::cli {
namespace {

struct RunOptions {
  std::string folder;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  int repeat = 30;
  bool random = false;
  std::optional<uint64_t> seed;  // of the random inputs
  bool percentiles = false;
};

constexpr uint64_t kSeed = 1;

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

Result<std::vector<TensorFile>> input_files(const LoadedArtifact& artifact, const RunOptions& options) {
  const Tensors inputs{"input", artifact.inputs()};
  const size_t given = options.inputs.size();
  if (options.random ? given > inputs.all.size() : given != inputs.all.size()) {
    return wrong_count(inputs, given, given == 0 ? " (--input X.npy for each, or --random)" : "");
  }
  return tensor_files(inputs, options.inputs);
}

Result<std::vector<TensorFile>> output_files(const LoadedArtifact& artifact, const RunOptions& options) {
  const Tensors outputs{"output", artifact.outputs()};
  if (options.outputs.size() > outputs.all.size()) return wrong_count(outputs, options.outputs.size());
  return tensor_files(outputs, options.outputs);
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

// Those without a file are random.
Status set_inputs(LoadedArtifact& artifact, const std::vector<TensorFile>& inputs,
                  const RunOptions& options) {
  if (options.random) {
    LATHE_TRY(std::vector<NpyArray> arrays, random_inputs(options.folder, options.seed.value_or(kSeed)));
    for (size_t i = 0; i < arrays.size(); ++i)
      LATHE_TRY_STATUS(artifact.set_input(i, std::move(arrays[i]), "--random"));
  }
  for (const TensorFile& input : inputs) {
    LATHE_TRY(NpyArray array, read_npy(input.path));
    LATHE_TRY_STATUS(artifact.set_input(input.index, std::move(array), input.path));
  }
  return {};
}

Status run(const RunOptions& options) {
  if (options.seed && !options.random) {
    return fail(ErrorKind::invalid_argument, "the seed is that of --random, which is not given", "--seed");
  }
  const std::vector<int> cpus = allowed_cpus();
  LATHE_TRY(LoadedArtifact artifact, LoadedArtifact::open(options.folder, static_cast<int>(cpus.size())));
  // The model's own threads exist by now and may run anywhere: they find the other cpus free for good.
  const PinnedThread pinned(cpus.front());
  LATHE_TRY(const std::vector<TensorFile> outputs, output_files(artifact, options));
  LATHE_TRY(const std::vector<TensorFile> inputs, input_files(artifact, options));
  LATHE_TRY_STATUS(check_outputs_apart(options.folder, inputs, outputs));
  LATHE_TRY_STATUS(set_inputs(artifact, inputs, options));
  LATHE_TRY_STATUS(artifact.run());
  for (const TensorFile& output : outputs)
    LATHE_TRY_STATUS(write_npy(output.path, artifact.output(output.index)));
  LATHE_TRY(const Latency latency, measure_latency(artifact, options.repeat));
  print_latency(latency);
  return options.percentiles ? print_percentiles(artifact, latency) : Status();
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  OptionSet command = add_command(app, "run", "run an artifact on .npy files and time it");
  const auto options = std::make_shared<RunOptions>();
  command.text("DIR", options->folder, "the artifact's folder", {.is_required = true});
  command.texts("--input", options->inputs, "[NAME=]X.npy for each input: by its name, the others in order");
  command.texts("--output", options->outputs, "[NAME=]Y.npy for an output: by its name, the others in order");
  command.flag("--random", options->random, "random values for each input that --input does not give");
  command.number("--seed", options->seed, "of --random; default: 1");
  command.flag("--percentiles", options->percentiles,
               "also print percentiles of the time of a run, and the throughput");
  command.number("--repeat", options->repeat, "how many samples the latency is the median of", {1, 1000000},
                 {.shows_default = true});
  command.action(chosen, [options] { return run(*options); });
}

}  // namespace lathe::cli
