// lathe/artifact.h.
#include "lathe/artifact.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "artifact/manifest.h"
#include "artifact/open/artifact_library.h"
#include "base/result.h"
#include "base/scratch_folder.h"
#include "session/computation_state.h"

namespace lathe {

struct Artifact::State {
  // As the library takes them; an Error where their numbers are others.
  Result<std::vector<const int64_t*>> pointers(const Shapes& shapes) const;
  ~State() {
    if (model != nullptr) library.close(model);
  }

  std::optional<ScratchFolder> folder;  // of what was just compiled
  ArtifactLibrary library;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  FreeSizes free;
  lathe_model* model = nullptr;
};

Artifact::Artifact(std::unique_ptr<State> state) : state_(std::move(state)) {}
Artifact::Artifact(Artifact&&) noexcept = default;
Artifact& Artifact::operator=(Artifact&&) noexcept = default;
Artifact::~Artifact() = default;

Result<Artifact> Artifact::open(const std::string& folder, int cores) {
  LATHE_TRY(const Manifest manifest, read_manifest(folder));
  auto state = std::make_unique<State>();
  LATHE_TRY(state->library, ArtifactLibrary::load(folder, manifest));
  state->model = state->library.open(folder.c_str(), cores);
  if (state->model == nullptr) return fail(ErrorKind::load, state->library.error(), folder);
  state->free = manifest.free;
  for (const ArtifactTensor& tensor : manifest.inputs) {
    state->inputs.push_back(tensor_info(tensor.name, tensor.dtype, tensor.shape, tensor.is_constant));
    state->inputs.back().least = least_shape(state->free, false, state->inputs.size() - 1, tensor.shape);
  }
  for (const ArtifactTensor& tensor : manifest.outputs) {
    state->outputs.push_back(tensor_info(tensor.name, tensor.dtype, tensor.shape, false));
    state->outputs.back().least = least_shape(state->free, true, state->outputs.size() - 1, tensor.shape);
  }
  return Artifact(std::move(state));
}

Result<Artifact> Artifact::open(const Compiled& compiled, const std::string& scratch_parent, int cores) {
  LATHE_TRY(ScratchFolder scratch, ScratchFolder::create(scratch_parent));
  const std::string folder = scratch.at("model");
  LATHE_TRY_STATUS(save(compiled, folder));
  LATHE_TRY(Artifact artifact, open(folder, cores));
  artifact.state_->folder.emplace(std::move(scratch));
  return artifact;
}

const std::vector<TensorInfo>& Artifact::inputs() const { return state_->inputs; }
const std::vector<TensorInfo>& Artifact::outputs() const { return state_->outputs; }

Status Artifact::run(std::span<const void* const> inputs, std::span<void* const> outputs) const {
  if (inputs.size() != state_->inputs.size() || outputs.size() != state_->outputs.size())
    return fail(ErrorKind::invalid_argument, "a run takes one address for each input and output");
  if (state_->library.run(state_->model, inputs.data(), outputs.data()) != 0)
    return fail(ErrorKind::invalid_program, state_->library.error());
  return {};
}

bool Artifact::has_free_sizes() const { return !state_->free.empty(); }

Result<std::vector<const int64_t*>> Artifact::State::pointers(const Shapes& shapes) const {
  if (free.empty()) return fail(ErrorKind::invalid_argument, "all sizes of the artifact are fixed");
  if (shapes.size() != inputs.size())
    return fail(ErrorKind::invalid_argument, "a run takes one shape for each input");
  std::vector<const int64_t*> found;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].size() != inputs[i].shape.size())
      return fail(ErrorKind::invalid_argument,
                  fmt::format("input '{}' has {} axes, its shape {}", inputs[i].name, inputs[i].shape.size(),
                              shapes[i].size()));
    found.push_back(shapes[i].data());
  }
  return found;
}

Result<Artifact::Shapes> Artifact::output_shapes(const Shapes& inputs) const {
  LATHE_TRY(const auto given, state_->pointers(inputs));
  Shapes shapes;
  std::vector<int64_t*> told;
  for (const TensorInfo& output : state_->outputs) shapes.push_back(output.shape);
  for (auto& shape : shapes) told.push_back(shape.data());
  if (state_->library.output_shapes(state_->model, given.data(), told.data()) != 0)
    return fail(ErrorKind::invalid_argument, state_->library.error());
  return shapes;
}

Status Artifact::run(std::span<const void* const> inputs, const Shapes& shapes,
                     std::span<void* const> outputs) const {
  if (inputs.size() != state_->inputs.size() || outputs.size() != state_->outputs.size())
    return fail(ErrorKind::invalid_argument, "a run takes one address for each input and output");
  LATHE_TRY(const auto given, state_->pointers(shapes));
  if (state_->library.run_sized(state_->model, inputs.data(), given.data(), outputs.data()) != 0)
    return fail(ErrorKind::invalid_program, state_->library.error());
  return {};
}

}  // namespace lathe
