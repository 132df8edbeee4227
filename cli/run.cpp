// lathe run: an artifact on inputs from .npy files, and how long it takes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "artifact/loaded_artifact.h"
#include "artifact/npy.h"
#include "cli/check_apart.h"
#include "cli/command.h"
#include "cli/console.h"
#include "measure/pinned_thread.h"
#include "measure/statistics.h"
#include "measure/timing.h"
#include "target/detect.h"

namespace lathe::cli {
namespace {

struct RunOptions {
  std::string folder;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  int repeat = 30;
};

// Runs shorter than this are timed several at once: the clock takes some tens of nanoseconds.
constexpr double kLeastSampleSeconds = 1e-3;

// Which of the artifact's inputs "[NAME=]X.npy" is about; without a name the next one in order.
struct InputFile {
  size_t index = 0;
  std::string path;
};

Result<InputFile> input_file(const LoadedArtifact& artifact, const std::string& text, size_t position) {
  const std::vector<ArtifactTensor>& inputs = artifact.inputs();
  // Names and paths may both hold '=': the artifact's names decide.
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (text.starts_with(inputs[i].name + "=")) return InputFile{i, text.substr(inputs[i].name.size() + 1)};
  }
  if (const size_t equals = text.find('='); equals != std::string::npos && text.find('/') > equals) {
    std::vector<std::string> names;
    for (const ArtifactTensor& tensor : inputs) names.push_back(tensor.name);
    return fail(ErrorKind::not_found,
                fmt::format("the artifact has no input '{}'; it has {}", text.substr(0, equals),
                            fmt::join(names, ", ")),
                "--input");
  }
  return InputFile{position, text};
}

// Of what the artifact has, another number was given.
std::unexpected<Error> wrong_count(const char* what, size_t count, size_t given) {
  return fail(ErrorKind::invalid_argument,
              fmt::format("the artifact has {} {}{}, {} {} given", count, what, count == 1 ? "" : "s", given,
                          given == 1 ? "is" : "are"),
              fmt::format("--{}", what));
}

// Each input's file, in the order of the command line.
Result<std::vector<InputFile>> input_files(const LoadedArtifact& artifact,
                                           const std::vector<std::string>& texts) {
  const size_t count = artifact.inputs().size();
  if (texts.size() != count) return wrong_count("input", count, texts.size());
  std::vector<bool> given(count, false);
  std::vector<InputFile> files;
  for (size_t position = 0; position < count; ++position) {
    LATHE_TRY(const InputFile input, input_file(artifact, texts[position], position));
    if (given[input.index]) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("input '{}' is given twice", artifact.inputs()[input.index].name), "--input");
    }
    given[input.index] = true;
    if (input.path.empty()) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("no file is given for input '{}'", artifact.inputs()[input.index].name),
                  "--input");
    }
    files.push_back(input);
  }
  return files;
}

// An output may be none of what is read, and no other output.
Status check_outputs_apart(const RunOptions& options, const std::vector<InputFile>& inputs) {
  std::vector<NamedFile> others = artifact_files("DIR", options.folder);
  for (const InputFile& input : inputs) others.push_back({"--input", input.path});
  for (const std::string& output : options.outputs) {
    LATHE_TRY_STATUS(check_apart({"--output", output}, others));
    others.push_back({"--output", output});
  }
  return {};
}

Status set_inputs(LoadedArtifact& artifact, const std::vector<InputFile>& inputs) {
  for (const InputFile& input : inputs) {
    LATHE_TRY(NpyArray array, read_npy(input.path));
    LATHE_TRY_STATUS(artifact.set_input(input.index, std::move(array), input.path));
  }
  return {};
}

struct Latency {
  double seconds = 0;
  double spread = 0;
};

Result<Latency> measure(LoadedArtifact& artifact, int repeat) {
  double begin = monotonic_seconds();
  LATHE_TRY_STATUS(artifact.run());
  const double estimate = monotonic_seconds() - begin;
  const int runs = std::clamp(static_cast<int>(std::ceil(kLeastSampleSeconds / estimate)), 1, 1000);
  std::vector<double> samples;
  for (int i = 0; i < repeat; ++i) {
    begin = monotonic_seconds();
    for (int k = 0; k < runs; ++k) LATHE_TRY_STATUS(artifact.run());
    samples.push_back((monotonic_seconds() - begin) / runs);
  }
  return Latency{median(samples), relative_spread(samples)};
}

Status run(const RunOptions& options) {
  const std::vector<int> cpus = allowed_cpus();
  LATHE_TRY(LoadedArtifact artifact, LoadedArtifact::open(options.folder, static_cast<int>(cpus.size())));
  // The model's own threads exist by now and may run anywhere: they find the other cpus free for good.
  const PinnedThread pinned(cpus.front());
  if (options.outputs.size() > artifact.outputs().size()) {
    return wrong_count("output", artifact.outputs().size(), options.outputs.size());
  }
  LATHE_TRY(const std::vector<InputFile> inputs, input_files(artifact, options.inputs));
  LATHE_TRY_STATUS(check_outputs_apart(options, inputs));
  LATHE_TRY_STATUS(set_inputs(artifact, inputs));
  LATHE_TRY_STATUS(artifact.run());
  for (size_t i = 0; i < options.outputs.size(); ++i) {
    LATHE_TRY_STATUS(write_npy(options.outputs[i], artifact.output(i)));
  }
  LATHE_TRY(const Latency latency, measure(artifact, options.repeat));
  to_stdout("latency: {:.{}f} ms (median of {}, spread {:.1f} %)\n", latency.seconds * 1e3,
            latency.seconds < 1e-4 ? 5 : 3, options.repeat, latency.spread * 100);
  return {};
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  OptionSet command = add_command(app, "run", "run an artifact on .npy files and time it");
  const auto options = std::make_shared<RunOptions>();
  command.text("DIR", options->folder, "the artifact's folder", {.is_required = true});
  command.texts("--input", options->inputs, "[NAME=]X.npy for each input");
  command.texts("--output", options->outputs, "Y.npy for each output in order");
  command.number("--repeat", options->repeat, "how many times the model is timed", {1, 1000000},
                 {.shows_default = true});
  command.action(chosen, [options] { return run(*options); });
}

}  // namespace lathe::cli
