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

// When the steps of a run began and ended, in nanoseconds of one clock.
struct RunTimes {
  lathe_interval call = {};
  lathe_interval inputs = {};     // copied, converted, looked at
  lathe_interval constants = {};  // compared, prepared where they changed
  lathe_interval outputs = {};    // converted
  std::vector<lathe_interval> launches;
  std::vector<lathe_part> parts;  // of launches on several threads, in no order, where they were wanted
};

class LoadedArtifact {
 public:
  // An Error where the folder is no artifact, was made for other processors, or its files do not go together.
  static Result<LoadedArtifact> open(const std::string& folder, int cores);

  LoadedArtifact(LoadedArtifact&&) noexcept;
  LoadedArtifact& operator=(LoadedArtifact&&) noexcept;
  ~LoadedArtifact();

  const std::vector<ArtifactTensor>& inputs() const;
  const std::vector<ArtifactTensor>& outputs() const;
  const Manifest& manifest() const;

  // Takes the input's values; an Error names the input where type or shape is another, or a free size is out
  // of its bounds. `source` is what the
  // error calls the array.
  Status set_input(size_t index, NpyArray array, const std::string& source);
  // Runs once. All inputs must have been set. Constants are passed on with the first run after they were set.
  Status run();
  // The same at the largest sizes, timed by the artifact itself; with its threads' parts, for which each
  // looks at the clock.
  Result<RunTimes> run_timed(bool with_parts);
  // An Error where the artifact was made by a Lathe whose libraries cannot do that.
  Status check_is_timed() const;
  // The values of the last run.
  NpyArray output(size_t index) const;

 private:
  struct State;
  explicit LoadedArtifact(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lathe
