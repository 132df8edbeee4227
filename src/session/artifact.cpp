// lathe/artifact.h.
#include "lathe/artifact.h"

#include <optional>
#include <utility>

#include "artifact/manifest.h"
#include "artifact/open/artifact_library.h"
#include "base/result.h"
#include "base/scratch_folder.h"
#include "session/computation_state.h"

namespace lathe {

struct Artifact::State {
  ~State() {
    if (model != nullptr) library.close(model);
  }

  std::optional<ScratchFolder> folder;  // of what was just compiled
  ArtifactLibrary library;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
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
  for (const ArtifactTensor& tensor : manifest.inputs)
    state->inputs.push_back(tensor_info(tensor.name, tensor.dtype, tensor.shape, tensor.is_constant));
  for (const ArtifactTensor& tensor : manifest.outputs)
    state->outputs.push_back(tensor_info(tensor.name, tensor.dtype, tensor.shape, false));
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

}  // namespace lathe
