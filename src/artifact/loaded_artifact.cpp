#include "artifact/loaded_artifact.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/check.h"
#include "base/read_file.h"
#include "target/detect.h"

namespace lathe {
namespace {

// As in the artifact's model.h.
using OpenFunction = void* (*)(const char*, int);
using RunFunction = int (*)(void*, const void* const*, void* const*);
using ErrorFunction = const char* (*)();
using CloseFunction = void (*)(void*);

constexpr size_t kAlignment = 64;

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
// calls the tensor. What is more than the whole machine has may be promised, and then ends the process when
// it is written.
Result<Buffer> allocate(const char* role, const ArtifactTensor& tensor, const std::string& where) {
  const size_t rounded = (tensor.bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* const data =
      rounded <= static_cast<size_t>(memory_bytes()) ? std::aligned_alloc(kAlignment, rounded) : nullptr;
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
  return fmt::format("{}[{}]", to_string(dtype), fmt::join(shape, ","));
}

}  // namespace

struct LoadedArtifact::State {
  ~State() {
    if (model != nullptr) close(model);
    if (library != nullptr) dlclose(library);
  }

  Status load(const std::string& folder, int cores);
  template <class Function>
  Status find(const std::string& path, const char* name, Function& function);

  Manifest manifest;
  std::vector<Buffer> input_buffers;
  std::vector<Buffer> output_buffers;
  std::vector<bool> changed;  // of each input: set since the last run
  void* library = nullptr;
  void* model = nullptr;
  OpenFunction open = nullptr;
  RunFunction run = nullptr;
  ErrorFunction error = nullptr;
  CloseFunction close = nullptr;
};

template <class Function>
Status LoadedArtifact::State::find(const std::string& path, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function != nullptr) return {};
  return fail(ErrorKind::load, fmt::format("the library does not define {}", name), path);
}

Status LoadedArtifact::State::load(const std::string& folder, int cores) {
  const std::string path = std::filesystem::absolute(folder).string() + "/model.so";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    const bool has_sources = std::filesystem::exists(folder + "/kernel0.c", ignored);
    return fail(ErrorKind::not_found,
                has_sources
                    ? "this artifact holds C sources in place of model.so: compile it without --emit c "
                      "to run it"
                    : "the artifact has no model.so: it was not written to its end, or a file was removed",
                folder);
  }
  LATHE_TRY(const std::string bytes, read_file(path));
  LATHE_TRY_STATUS(check_library(bytes, manifest.library, path));
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return fail(ErrorKind::load, fmt::format("the model cannot be loaded: {}", dlerror()));
  LATHE_TRY_STATUS(find(path, "lathe_open", open));
  LATHE_TRY_STATUS(find(path, "lathe_run", run));
  LATHE_TRY_STATUS(find(path, "lathe_error", error));
  LATHE_TRY_STATUS(find(path, "lathe_close", close));
  model = open(folder.c_str(), cores);
  if (model == nullptr) return fail(ErrorKind::load, error(), folder);
  return {};
}

LoadedArtifact::LoadedArtifact(std::unique_ptr<State> state) : state_(std::move(state)) {}
LoadedArtifact::LoadedArtifact(LoadedArtifact&&) noexcept = default;
LoadedArtifact& LoadedArtifact::operator=(LoadedArtifact&&) noexcept = default;
LoadedArtifact::~LoadedArtifact() = default;

Result<LoadedArtifact> LoadedArtifact::open(const std::string& folder, int cores) {
  auto state = std::make_unique<State>();
  LATHE_TRY(state->manifest, read_manifest(folder));
  LATHE_TRY_STATUS(state->load(folder, cores));
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

Status LoadedArtifact::run() {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (size_t i = 0; i < state_->manifest.inputs.size(); ++i) {
    LATHE_CHECK(state_->input_buffers[i] != nullptr);
    const bool known = state_->manifest.inputs[i].is_constant && !state_->changed[i];
    inputs.push_back(known ? nullptr : state_->input_buffers[i].get());
  }
  for (const Buffer& output : state_->output_buffers) outputs.push_back(output.get());
  if (state_->run(state_->model, inputs.data(), outputs.data()) != 0) {
    return fail(ErrorKind::invalid_program, state_->error());
  }
  state_->changed.assign(state_->changed.size(), false);
  return {};
}

NpyArray LoadedArtifact::output(size_t index) const {
  const ArtifactTensor& output = state_->manifest.outputs.at(index);
  const std::byte* const data = state_->output_buffers[index].get();
  return {output.dtype, output.shape, std::vector<std::byte>(data, data + output.bytes)};
}

}  // namespace lathe
