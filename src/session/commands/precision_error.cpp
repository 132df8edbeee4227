#include "session/commands/precision_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "artifact/open/loaded_artifact.h"
#include "artifact/open/random_inputs.h"
#include "artifact/write/write_artifact.h"
#include "base/compiler_version.h"
#include "base/scratch_folder.h"
#include "session/load_source.h"

namespace lathe {
namespace {

constexpr uint64_t kDraws = 3;

std::vector<double> values_of(const NpyArray& array) {
  std::vector<double> values;
  visit_storage(array.dtype, [&]<class T>(std::type_identity<T>) {
    values.resize(array.bytes.size() / sizeof(T));
    for (size_t i = 0; i < values.size(); ++i) {
      T element;
      std::memcpy(&element, array.bytes.data() + i * sizeof element, sizeof element);
      values[i] = static_cast<double>(element);
    }
  });
  return values;
}

// The outputs of an artifact for each draw: outputs[i][draw].
Result<std::vector<std::vector<NpyArray>>> run_draws(const std::string& folder, int cores) {
  LATHE_TRY(LoadedArtifact artifact, LoadedArtifact::open(folder, cores));
  std::vector<std::vector<NpyArray>> outputs(artifact.outputs().size());
  for (uint64_t draw = 1; draw <= kDraws; ++draw) {
    LATHE_TRY_STATUS(set_random_inputs(artifact, folder, draw, folder));
    LATHE_TRY_STATUS(artifact.run());
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i].push_back(artifact.output(i));
  }
  return outputs;
}

// The folder itself where it is there, else that in which it will be.
std::string folder_with_room(const std::string& out) {
  std::error_code ignored;
  if (std::filesystem::is_directory(out, ignored)) return out;
  const std::string parent = (std::filesystem::path(".") / out).lexically_normal().parent_path().string();
  return parent.empty() ? "." : parent;
}

// None for two that are the same, infinities and what is no number too.
double difference(double exact, double narrow) {
  if (exact == narrow || (std::isnan(exact) && std::isnan(narrow))) return 0;
  const double off = std::abs(exact - narrow);
  return std::isnan(off) ? std::numeric_limits<double>::infinity() : off;
}

}  // namespace

OutputError output_error(const std::string& name, const std::vector<NpyArray>& exact,
                         const std::vector<NpyArray>& narrow) {
  OutputError error{name};
  double magnitude = 0;
  double sum = 0;
  double count = 0;
  for (size_t draw = 0; draw < exact.size(); ++draw) {
    const std::vector<double> right = values_of(exact[draw]);
    const std::vector<double> given = values_of(narrow[draw]);
    for (size_t i = 0; i < right.size(); ++i) {
      const double off = difference(right[i], given[i]);
      if (std::isfinite(right[i])) magnitude = std::max(magnitude, std::abs(right[i]));
      error.largest = std::max(error.largest, off);
      sum += off;
    }
    count += static_cast<double>(right.size());
  }
  // Of an output of zeros any difference is infinitely large beside it.
  const auto share = [&](double off) { return off == 0 ? 0 : off / magnitude; };
  error.mean = share(sum / count);
  error.largest = share(error.largest);
  return error;
}

Result<PrecisionReference> PrecisionReference::make(const ProgramSource& source, const Target& target,
                                                    CandidateRunner& runner, const std::string& out,
                                                    const Watch& watch) {
  ProgramSource own = source;
  own.precision.clear();
  LATHE_TRY(const Network network, load_network(own, target));
  CompileModelOptions options;
  options.target = target;
  options.runner = &runner;
  options.check = Checked::sampled;
  options.watch = watch;
  options.weights_limit = 0;
  LATHE_TRY(Model model, compile_network(network, options));
  LATHE_TRY(const ScratchFolder scratch, ScratchFolder::create(folder_with_room(out)));
  const std::string folder = scratch.at("reference");
  WriteOptions writing;
  writing.compiler_version = compiler_version();
  LATHE_TRY_STATUS(write_artifact(std::move(model), folder, writing));
  PrecisionReference reference;
  reference.cores_ = cores_of(target);
  LATHE_TRY(reference.outputs_, run_draws(folder, reference.cores_));
  return reference;
}

Result<PrecisionError> PrecisionReference::error_of(const std::string& folder,
                                                    const std::string& precision) const {
  LATHE_TRY(const Manifest manifest, read_manifest(folder));
  LATHE_TRY(const auto outputs, run_draws(folder, cores_));
  PrecisionError error{precision, {}};
  for (size_t i = 0; i < outputs_.size(); ++i)
    error.outputs.push_back(output_error(manifest.outputs[i].name, outputs_[i], outputs[i]));
  return error;
}

Result<PrecisionError> state_error(const PrecisionReference& reference, const std::string& folder,
                                   const std::string& precision) {
  LATHE_TRY(const PrecisionError error, reference.error_of(folder, precision));
  nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
  for (const OutputError& output : error.outputs)
    outputs.push_back({{"name", output.output}, {"largest", output.largest}, {"mean", output.mean}});
  LATHE_TRY_STATUS(
      add_to_manifest(folder, "precision", {{"type", precision}, {"errors", std::move(outputs)}}));
  return error;
}

std::string to_string(const PrecisionError& error) {
  std::string text = fmt::format("precision {}: ", error.precision);
  for (const OutputError& output : error.outputs) {
    text +=
        fmt::format("{}output '{}' is off by at most {:.2g} % of its largest magnitude, {:.2g} % in the mean",
                    &output == &error.outputs.front() ? "" : "; ", output.output, 100 * output.largest,
                    100 * output.mean);
  }
  return text;
}

}  // namespace lathe
