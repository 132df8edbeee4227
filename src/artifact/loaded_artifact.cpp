#include "artifact/loaded_artifact.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/check.h"
#include "base/json.h"

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

size_t byte_count(const ArtifactTensor& tensor) {
  int64_t count = bytes_of(tensor.dtype);
  for (const int64_t extent : tensor.shape) count *= extent;
  return static_cast<size_t>(count);
}

Buffer allocate(size_t bytes) {
  auto* const data = static_cast<std::byte*>(std::aligned_alloc(
      kAlignment, std::max<size_t>(1, (bytes + kAlignment - 1) / kAlignment) * kAlignment));
  LATHE_CHECK(data != nullptr);
  std::memset(data, 0, bytes);
  return Buffer(data);
}

std::string describe(DType dtype, const std::vector<int64_t>& shape) {
  return fmt::format("{}[{}]", to_string(dtype), fmt::join(shape, ","));
}

Result<std::vector<ArtifactTensor>> read_tensors(const nlohmann::json& list, const std::string& path) {
  std::vector<ArtifactTensor> tensors;
  for (const nlohmann::json& entry : list) {
    ArtifactTensor tensor;
    tensor.name = entry.at("name").get<std::string>();
    LATHE_TRY(tensor.dtype, parse_dtype(entry.at("type").get<std::string>()));
    tensor.shape = entry.at("shape").get<std::vector<int64_t>>();
    if (std::ranges::any_of(tensor.shape, [](int64_t extent) { return extent < 1; })) {
      return fail(ErrorKind::parse,
                  fmt::format("tensor '{}' has the shape [{}], and extents are at least 1", tensor.name,
                              fmt::join(tensor.shape, ",")),
                  path);
    }
    tensor.is_constant = entry.value("constant", false);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace

struct LoadedArtifact::State {
  ~State() {
    if (model != nullptr) close(model);
    if (library != nullptr) dlclose(library);
  }

  Status read_manifest(const std::string& folder);
  Status load(const std::string& folder, int cores);
  template <class Function>
  Status find(const std::string& path, const char* name, Function& function);

  std::vector<ArtifactTensor> inputs;
  std::vector<ArtifactTensor> outputs;
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

Status LoadedArtifact::State::read_manifest(const std::string& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return fail(ErrorKind::not_found, "there is no such folder", folder);
  }
  const std::string path = folder + "/manifest.json";
  std::ifstream file(path);
  if (!file) return fail(ErrorKind::not_found, "this is not an artifact, it has no manifest.json", folder);
  std::ostringstream text;
  text << file.rdbuf();
  const Result<nlohmann::json> manifest = parse_json(text.str(), path);
  if (!manifest) return fail(ErrorKind::parse, "this is not the manifest of an artifact", path);
  try {
    LATHE_TRY(inputs, read_tensors(manifest->at("inputs"), path));
    LATHE_TRY(outputs, read_tensors(manifest->at("outputs"), path));
  } catch (const nlohmann::json::exception&) {
    return fail(ErrorKind::parse, "this is not the manifest of an artifact", path);
  }
  return {};
}

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
  LATHE_TRY_STATUS(state->read_manifest(folder));
  LATHE_TRY_STATUS(state->load(folder, cores));
  state->input_buffers.resize(state->inputs.size());
  state->changed.resize(state->inputs.size(), false);
  for (const ArtifactTensor& output : state->outputs) {
    state->output_buffers.push_back(allocate(byte_count(output)));
  }
  return LoadedArtifact(std::move(state));
}

const std::vector<ArtifactTensor>& LoadedArtifact::inputs() const { return state_->inputs; }
const std::vector<ArtifactTensor>& LoadedArtifact::outputs() const { return state_->outputs; }

Status LoadedArtifact::set_input(size_t index, NpyArray array, const std::string& source) {
  const ArtifactTensor& input = state_->inputs.at(index);
  if (array.dtype != input.dtype || array.shape != input.shape) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("input '{}' must be {}, this is {}", input.name,
                            describe(input.dtype, input.shape), describe(array.dtype, array.shape)),
                source);
  }
  state_->input_buffers[index] = allocate(array.bytes.size());
  std::ranges::copy(array.bytes, state_->input_buffers[index].get());
  state_->changed[index] = true;
  return {};
}

Status LoadedArtifact::run() {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (size_t i = 0; i < state_->inputs.size(); ++i) {
    LATHE_CHECK(state_->input_buffers[i] != nullptr);
    const bool known = state_->inputs[i].is_constant && !state_->changed[i];
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
  const ArtifactTensor& output = state_->outputs.at(index);
  const std::byte* const data = state_->output_buffers[index].get();
  return {output.dtype, output.shape, std::vector<std::byte>(data, data + byte_count(output))};
}

}  // namespace lathe
