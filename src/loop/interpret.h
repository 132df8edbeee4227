// The oracle: runs a loop program, scheduled or lowered, one statement after the other on checked buffers.
//
// Floats are rounded to their type after every operation (f32: as IEEE single operations, without fused
// multiply-add), exp and its like are the host's in double, rounded. Integers wrap around at their type's
// size. Minimum and maximum give NaN if either side is. A scalar condition of a select runs only the side
// that it takes, a vector condition runs both. Fresh memory under an Alloc, outputs, and the padding of
// arguments hold NaN. Prefetch does nothing; every other loop kind runs in order, parallel ones shuffled if
// asked. Deterministic; safe to call from several threads at once. Speed: 20 .. 60 million simple instances a
// second.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "loop/host_tensor.h"
#include "loop/loop.h"

namespace lathe {

struct InterpretOptions {
  Rng* shuffle = nullptr;        // orders the iterations of parallel loops; null: 0, 1, ...
  bool counts_coverage = false;  // whether to fill `Interpretation::coverage` (slower)
  // Loop iterations after which an Error ends the run: for programs that nobody vouches for.
  int64_t step_limit = std::numeric_limits<int64_t>::max();
};

// How often one block reached the points of its domain. A lifetime is one entry of the Alloc of the buffer
// that it writes (the whole run for arguments and prepared buffers). Points beyond the domain (tail=pad) are
// left out.
struct BlockCoverage {
  std::string block;
  bool reduces = false;          // it has reduce axes
  bool writes_argument = false;  // its output lives for the whole run
  int64_t points = 0;            // of the domain; 0 if that is too large to be counted
  int64_t visited = 0;           // of them, at least once
  int64_t most = 0;              // the most often that a point was reached within one lifetime
  bool same_value = true;        // without reduce axes: every visit in a lifetime stored the same value
};

struct Interpretation {
  std::vector<HostTensor> outputs;      // of the output arguments, in order
  std::vector<BlockCoverage> coverage;  // if asked: a block each, `prepare` first
  int64_t instances = 0;                // blocks and stores that ran
};

// Runs `prepare`, then `main`. `inputs` are the values of the arguments that are no outputs, in their order.
// An Error (invalid_program) names the first access outside of its storage with statement, tensor and index,
// an access of a tensor that is not there, or a write to a read-only one; invalid_argument an input that does
// not fit its argument.
Result<Interpretation> interpret(const Program& program, std::span<const HostTensor> inputs,
                                 const InterpretOptions& options = {});

}  // namespace lathe
