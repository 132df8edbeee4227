// An artifact in this process: opened through its C face, as its user would, with types and shapes checked on
// the way in. Owns the library and the model; used by one thread at a time. Every failure is one sentence.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "artifact/manifest.h"
#include "artifact/open/npy.h"
#include "base/result.h"

namespace lathe {

class LoadedArtifact {
 public:
  // An Error where the folder is no artifact, was made for other processors, or its files do not go together.
  static Result<LoadedArtifact> open(const std::string& folder, int cores);

  LoadedArtifact(LoadedArtifact&&) noexcept;
  LoadedArtifact& operator=(LoadedArtifact&&) noexcept;
  ~LoadedArtifact();

  const std::vector<ArtifactTensor>& inputs() const;
  const std::vector<ArtifactTensor>& outputs() const;

  // Takes the input's values; an Error names the input where type or shape is another. `source` is what the
  // error calls the array.
  Status set_input(size_t index, NpyArray array, const std::string& source);
  // Runs once. All inputs must have been set. Constants are passed on with the first run after they were set.
  Status run();
  // The values of the last run.
  NpyArray output(size_t index) const;

 private:
  struct State;
  explicit LoadedArtifact(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lathe
