// Random inputs for a task, such that what comes of them tells right programs from wrong ones. Floats lie on
// both sides of zero, but for a scalar among tensors, which scales them or keeps a divisor or a root's
// operand away from zero, and is about 1. Where a result is no number (a square root, a logarithm), and after
// some tries where an output hangs on roundings (a divisor comes near zero), the same are drawn with their
// magnitudes alone, at first only what has a part in such operands; where a value on the way goes beyond what
// its type holds, with smaller ones. Of these the first are taken whose outputs tell right programs from
// wrong ones everywhere, else those that do in most places. The same seed gives the same data.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "base/watch.h"
#include "check/compare_output.h"
#include "expr/dag.h"
#include "loop/host_tensor.h"

namespace lathe {

// Inputs, and what is compared of the outputs.
struct DrawnData {
  std::vector<HostTensor> inputs;
  std::vector<Reference> references;
};

// Of outputs up to so many elements all are compared, of larger ones about so many. An Error (unsupported)
// where nothing that was drawn can be compared, which it says of one output; of kind timeout where the watch
// is over first.
Result<DrawnData> draw_data(const Dag& dag, uint64_t seed, int64_t sampled_points, const Watch& watch = {});

// The positions (row-major) of an output to compare: all of a small one; else corners, edges and random
// points.
std::vector<int64_t> points_to_check(const std::vector<int64_t>& shape, int64_t count, Rng& rng);

}  // namespace lathe
