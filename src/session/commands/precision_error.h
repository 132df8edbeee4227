// How far a network that is kept in a narrow type (`--precision`) is off from the same network in its own
// types: measured, both as they will be used, on inputs that are drawn.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "artifact/compile_model.h"
#include "artifact/open/npy.h"
#include "base/result.h"
#include "base/watch.h"
#include "measure/candidate_runner.h"
#include "session/program_source.h"
#include "target/target.h"

namespace lathe {

// Of one output, over all draws: the largest difference and the mean one, as shares of the largest magnitude
// that the output has in the model's own types. Infinite where one is finite and the other is not.
struct OutputError {
  std::string output;
  double largest = 0;
  double mean = 0;
};

struct PrecisionError {
  std::string precision;  // "f16", "bf16"
  std::vector<OutputError> outputs;
};

// The differences between two outputs of one shape; what is the same in both, NaN and infinities too, is
// none.
OutputError output_error(const std::string& name, const std::vector<NpyArray>& exact,
                         const std::vector<NpyArray>& narrow);

// What a network gives in its own types.
class PrecisionReference {
 public:
  // Compiles the source's network without its precision, untuned, and runs it; `out`, where the artifact will
  // be, is where there is room for this one meanwhile. Programs are compared in a sample by `runner` before.
  static Result<PrecisionReference> make(const ProgramSource& source, const Target& target,
                                         CandidateRunner& runner, const std::string& out, const Watch& watch);
  // How far the artifact in that folder, of the same network, is off for the same inputs.
  Result<PrecisionError> error_of(const std::string& folder, const std::string& precision) const;

 private:
  int cores_ = 1;
  std::vector<std::vector<NpyArray>> outputs_;  // of each, one a draw
};

// The same, and what it says is added to the artifact's manifest.
Result<PrecisionError> state_error(const PrecisionReference& reference, const std::string& folder,
                                   const std::string& precision);

// "precision bf16: output 'y' is off by at most 0.31 % of its largest magnitude, 0.042 % in the mean": a
// sentence an output, joined.
std::string to_string(const PrecisionError& error);

}  // namespace lathe
