// Programs that can be run: compiled in this process, and artifacts in folders (docs/artifact_format.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lathe/computation.h"

namespace lathe {

struct CompileChoice {
  // A records file to take the best programs from; empty: trial 0 of each task, which nothing is measured
  // for.
  std::string records = "";
  // How much of what each kernel computes is compared with a reference: "full", "sampled" or "none"; empty:
  // full, but sampled where that takes over a minute.
  std::string check = "";
  // The program lathe-worker (the CMake target lathe::worker), in which kernels run to be compared. Empty:
  // they are run for the first time by the caller, who has no guard against a wrong one.
  std::string worker = "";
  // Told, in a sentence, why a program was not used, or what is worth knowing.
  std::function<void(const std::string&)> note = {};
  // Asked now and then in the calling thread; true: what is left is not compared any more.
  std::function<bool()> stop = {};
};

// Machine code of a Computation. An immutable handle, as Computation.
class Compiled {
 public:
  struct State;  // of the library alone
  explicit Compiled(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

Result<Compiled> compile(const Computation& computation, const CompileChoice& choice = {});

// Writes the artifact, which needs a C++ compiler in the PATH to link. `name` is what its functions and its
// library are called by; empty: the computation's. An Error names the file that could not be written; the
// folder's files are then as they were.
Status save(const Compiled& compiled, const std::string& folder, const std::string& name = {});

// An artifact that is open in this process. Any number of threads may run it at once. Movable; whoever
// destroys it knows that no run is under way.
class Artifact {
 public:
  // An Error where the folder is no artifact, was made for other processors, or its files do not go together.
  // At most `cores` cores for one run; 0: as many as it was compiled for.
  static Result<Artifact> open(const std::string& folder, int cores = 0);
  // The same of what was just compiled, which is written (save) to a folder of its own below `scratch`, such
  // as /tmp, that goes with the Artifact.
  static Result<Artifact> open(const Compiled& compiled, const std::string& scratch, int cores = 0);

  Artifact(Artifact&&) noexcept;
  Artifact& operator=(Artifact&&) noexcept;
  ~Artifact();

  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;

  // Runs once. One address for each input and output, of row-major elements of their types; those at
  // multiples of 64 are used where they lie, others are copied. An output may lie where inputs do.
  Status run(std::span<const void* const> inputs, std::span<void* const> outputs) const;

  using Shapes = std::vector<std::vector<int64_t>>;
  // Whether sizes are free: `run` takes and gives the largest.
  bool has_free_sizes() const;
  // The shapes of outputs for inputs of these. An Error names the input that is out of its bounds.
  Result<Shapes> output_shapes(const Shapes& inputs) const;
  // Runs once at the sizes of these inputs; outputs have the shapes of output_shapes.
  Status run(std::span<const void* const> inputs, const Shapes& shapes, std::span<void* const> outputs) const;

 private:
  struct State;
  explicit Artifact(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lathe
