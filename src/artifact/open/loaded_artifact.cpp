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

size_t bytes_at(const ArtifactTensor& tensor, const std::vector<int64_t>& shape) {
  auto bytes = static_cast<size_t>(bytes_of(tensor.dtype));
  for (const int64_t extent : shape) bytes *= static_cast<size_t>(extent);
  return bytes;
}

// Memory for the tensor, all zero; an Error where the machine has no such room. `role` is what the error
// calls the tensor. What is more than the machine has free may be promised, and then ends the process when it
// is written.
Result<Buffer> allocate(const char* role, const ArtifactTensor& tensor, size_t bytes,
                        const std::string& where) {
  const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* const data =
      rounded <= static_cast<size_t>(free_memory_bytes()) ? std::aligned_alloc(kAlignment, rounded) : nullptr;
  if (data == nullptr) {
    return fail(ErrorKind::io,
                fmt::format("{} '{}' takes {}, which this machine does not give", role, tensor.name,
                            size_text(bytes)),
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
  std::vector<std::vector<int64_t>> input_shapes;
  std::vector<std::vector<int64_t>> output_shapes;
  lathe_model* model = nullptr;
  std::string folder;

  // Null `times`: a plain run.
  Status call(lathe_run_times* times);
  Status run_sized(const std::vector<const void*>& inputs, const std::vector<void*>& outputs,
                   lathe_run_times* times) const;
  // Makes room for the outputs of these inputs.
  Status size_outputs();
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
  for (const ArtifactTensor& input : state->manifest.inputs) state->input_shapes.push_back(input.shape);
  for (const ArtifactTensor& output : state->manifest.outputs) {
    LATHE_TRY(Buffer buffer, allocate("output", output, output.bytes, folder));
    state->output_buffers.push_back(std::move(buffer));
    state->output_shapes.push_back(output.shape);
  }
  return LoadedArtifact(std::move(state));
}

const std::vector<ArtifactTensor>& LoadedArtifact::inputs() const { return state_->manifest.inputs; }
const std::vector<ArtifactTensor>& LoadedArtifact::outputs() const { return state_->manifest.outputs; }

const Manifest& LoadedArtifact::manifest() const { return state_->manifest; }

Status LoadedArtifact::set_input(size_t index, NpyArray array, const std::string& source) {
  const ArtifactTensor& input = state_->manifest.inputs.at(index);
  const bool is_free = !state_->manifest.free.empty();
  if (is_free && array.dtype == input.dtype) {
    LATHE_TRY_STATUS(check_input_shape(state_->manifest, index, array.shape, source));
  } else if (array.dtype != input.dtype || array.shape != input.shape) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("input '{}' must be {}, this is {}", input.name,
                            describe(input.dtype, input.shape), describe(array.dtype, array.shape)),
                source);
  }
  LATHE_TRY(state_->input_buffers[index], allocate("input", input, array.bytes.size(), source));
  state_->input_shapes[index] = array.shape;
  std::ranges::copy(array.bytes, state_->input_buffers[index].get());
  state_->changed[index] = true;
  return {};
}

Status LoadedArtifact::State::call(lathe_run_times* times) {
  LATHE_TRY_STATUS(size_outputs());
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (size_t i = 0; i < manifest.inputs.size(); ++i) {
    LATHE_CHECK(input_buffers[i] != nullptr);
    const bool known = manifest.inputs[i].is_constant && !changed[i];
    inputs.push_back(known ? nullptr : input_buffers[i].get());
  }
  for (const Buffer& output : output_buffers) outputs.push_back(output.get());
  if (!manifest.free.empty()) {
    LATHE_TRY_STATUS(run_sized(inputs, outputs, times));
    return {};
  }
  const int status = times == nullptr ? library.run(model, inputs.data(), outputs.data())
                                      : library.run_timed(model, inputs.data(), outputs.data(), times);
  if (status != 0) return fail(ErrorKind::invalid_program, library.error());
  changed.assign(changed.size(), false);
  return {};
}

Status LoadedArtifact::State::size_outputs() {
  if (manifest.free.empty()) return {};
  std::vector<const int64_t*> given;
  for (const auto& shape : input_shapes) given.push_back(shape.data());
  std::vector<std::vector<int64_t>> shapes = output_shapes;
  std::vector<int64_t*> told;
  for (auto& shape : shapes) told.push_back(shape.data());
  if (library.output_shapes(model, given.data(), told.data()) != 0)
    return fail(ErrorKind::invalid_argument, library.error());
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i] == output_shapes[i]) continue;
    const ArtifactTensor& output = manifest.outputs[i];
    LATHE_TRY(output_buffers[i], allocate("output", output, bytes_at(output, shapes[i]), folder));
    output_shapes[i] = shapes[i];
  }
  return {};
}

Status LoadedArtifact::State::run_sized(const std::vector<const void*>& inputs,
                                        const std::vector<void*>& outputs, lathe_run_times* times) const {
  std::vector<const int64_t*> shapes;
  bool is_largest = true;
  for (size_t i = 0; i < inputs.size(); ++i) {
    shapes.push_back(input_shapes[i].data());
    is_largest = is_largest && input_shapes[i] == manifest.inputs[i].shape;
  }
  if (times != nullptr && !is_largest)
    return fail(ErrorKind::unsupported,
                "launches are timed at the largest sizes alone, and these inputs have smaller ones", folder);
  const int status = times == nullptr ? library.run_sized(model, inputs.data(), shapes.data(), outputs.data())
                                      : library.run_timed(model, inputs.data(), outputs.data(), times);
  return status == 0 ? Status{} : fail(ErrorKind::invalid_program, library.error());
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
  const std::vector<int64_t>& shape = state_->output_shapes[index];
  return {output.dtype, shape, std::vector<std::byte>(data, data + bytes_at(output, shape))};
}

}  // namespace lathe
