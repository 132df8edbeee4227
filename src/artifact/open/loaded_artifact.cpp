#include "artifact/open/loaded_artifact.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "artifact/open/artifact_library.h"
#include "base/abridged.h"
#include "base/check.h"
#include "target/detect.h"

namespace lathe {
namespace {

constexpr size_t kAlignment = 64;
// Of a launch: each loop that it spreads has some for each thread.
constexpr size_t kPartsOfLaunch = 512;

struct FreeBytes {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
using Buffer = std::unique_ptr<std::byte, FreeBytes>;

std::string size_text(size_t bytes) {
  constexpr std::array<const char*, 7> kUnits = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto amount = static_cast<double>(bytes);
  size_t unit = 0;
  for (; amount >= 1000; ++unit) amount /= 1000;
  return fmt::format("{:.4g} {}", amount, kUnits[unit]);
}

// Memory for the tensor, all zero; an Error where the machine has no such room. `role` is what the error
// calls the tensor. What is more than the machine has free may be promised, and then ends the process when it
// is written.
Result<Buffer> allocate(const char* role, const ArtifactTensor& tensor, const std::string& where) {
  const size_t rounded = (tensor.bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* const data =
      rounded <= static_cast<size_t>(free_memory_bytes()) ? std::aligned_alloc(kAlignment, rounded) : nullptr;
  if (data == nullptr) {
    return fail(ErrorKind::io,
                fmt::format("{} '{}' takes {}, which this machine does not give", role, tensor.name,
                            size_text(tensor.bytes)),
                where);
  }
  std::memset(data, 0, rounded);
  return Buffer(static_cast<std::byte*>(data));
}

std::string describe(DType dtype, const std::vector<int64_t>& shape) {
  return fmt::format("{}[{}]", to_string(dtype), abridged(fmt::format("{}", fmt::join(shape, ","))));
}

}  // namespace

struct LoadedArtifact::State {
  ~State() {
    if (model != nullptr) library.close(model);
  }

  Manifest manifest;
  ArtifactLibrary library;
  std::vector<Buffer> input_buffers;
  std::vector<Buffer> output_buffers;
  std::vector<bool> changed;  // of each input: set since the last run
  lathe_model* model = nullptr;
  std::string folder;

  // Null `times`: a plain run.
  Status call(lathe_run_times* times);
};

LoadedArtifact::LoadedArtifact(std::unique_ptr<State> state) : state_(std::move(state)) {}
LoadedArtifact::LoadedArtifact(LoadedArtifact&&) noexcept = default;
LoadedArtifact& LoadedArtifact::operator=(LoadedArtifact&&) noexcept = default;
LoadedArtifact::~LoadedArtifact() = default;

Result<LoadedArtifact> LoadedArtifact::open(const std::string& folder, int cores) {
  auto state = std::make_unique<State>();
  LATHE_TRY(state->manifest, read_manifest(folder));
  LATHE_TRY(state->library, ArtifactLibrary::load(folder, state->manifest));
  state->folder = folder;
  state->model = state->library.open(folder.c_str(), cores);
  if (state->model == nullptr) return fail(ErrorKind::load, state->library.error(), folder);
  state->input_buffers.resize(state->manifest.inputs.size());
  state->changed.resize(state->manifest.inputs.size(), false);
  for (const ArtifactTensor& output : state->manifest.outputs) {
    LATHE_TRY(Buffer buffer, allocate("output", output, folder));
    state->output_buffers.push_back(std::move(buffer));
  }
  return LoadedArtifact(std::move(state));
}

const std::vector<ArtifactTensor>& LoadedArtifact::inputs() const { return state_->manifest.inputs; }
const std::vector<ArtifactTensor>& LoadedArtifact::outputs() const { return state_->manifest.outputs; }

const Manifest& LoadedArtifact::manifest() const { return state_->manifest; }

Status LoadedArtifact::set_input(size_t index, NpyArray array, const std::string& source) {
  const ArtifactTensor& input = state_->manifest.inputs.at(index);
  if (array.dtype != input.dtype || array.shape != input.shape) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("input '{}' must be {}, this is {}", input.name,
                            describe(input.dtype, input.shape), describe(array.dtype, array.shape)),
                source);
  }
  LATHE_TRY(state_->input_buffers[index], allocate("input", input, source));
  std::ranges::copy(array.bytes, state_->input_buffers[index].get());
  state_->changed[index] = true;
  return {};
}

Status LoadedArtifact::State::call(lathe_run_times* times) {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (size_t i = 0; i < manifest.inputs.size(); ++i) {
    LATHE_CHECK(input_buffers[i] != nullptr);
    const bool known = manifest.inputs[i].is_constant && !changed[i];
    inputs.push_back(known ? nullptr : input_buffers[i].get());
  }
  for (const Buffer& output : output_buffers) outputs.push_back(output.get());
  const int status = times == nullptr ? library.run(model, inputs.data(), outputs.data())
                                      : library.run_timed(model, inputs.data(), outputs.data(), times);
  if (status != 0) return fail(ErrorKind::invalid_program, library.error());
  changed.assign(changed.size(), false);
  return {};
}

Status LoadedArtifact::run() { return state_->call(nullptr); }

Status LoadedArtifact::check_is_timed() const {
  if (state_->library.run_timed != nullptr) return {};
  return fail(
      ErrorKind::unsupported,
      "the artifact was compiled by a Lathe whose libraries cannot time their kernels: compile it again",
      state_->folder);
}

Result<RunTimes> LoadedArtifact::run_timed(bool with_parts) {
  LATHE_TRY_STATUS(check_is_timed());
  RunTimes told;
  told.launches.resize(state_->manifest.launches.size());
  if (with_parts) told.parts.resize(kPartsOfLaunch * told.launches.size());
  lathe_run_times times = {};
  times.size = sizeof times;
  times.launch_count = static_cast<int>(told.launches.size());
  times.launches = told.launches.data();
  times.part_room = static_cast<int>(told.parts.size());
  times.parts = told.parts.data();
  LATHE_TRY_STATUS(state_->call(&times));
  told.call = times.call;
  told.inputs = times.inputs;
  told.constants = times.constants;
  told.outputs = times.outputs;
  told.parts.resize(static_cast<size_t>(std::min(times.part_count, times.part_room)));
  return told;
}

NpyArray LoadedArtifact::output(size_t index) const {
  const ArtifactTensor& output = state_->manifest.outputs.at(index);
  const std::byte* const data = state_->output_buffers[index].get();
  return {output.dtype, output.shape, std::vector<std::byte>(data, data + output.bytes)};
}

}  // namespace lathe
