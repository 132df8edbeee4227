// Random inputs for a task, such that what comes of them tells right programs from wrong ones. Floats lie on
// both sides of zero, but for a scalar among tensors, which scales them or keeps a divisor or a root's
// operand away from zero, and is about 1. Where a result is no number (a square root, a logarithm), and after
// some tries where an output is unsteady (a divisor comes near zero), the same are drawn with their
// magnitudes alone, at first only what has a part in such operands; where a value on the way goes beyond what
// its type holds, with smaller ones. The same seed gives the same data.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "expr/dag.h"
#include "loop/host_tensor.h"
#include "tune/compare_output.h"
#include "tune/problem.h"
#include "tune/watch.h"

namespace lathe {

// Inputs, and what is compared of the outputs.
struct DrawnData {
  std::vector<HostTensor> inputs;
  std::vector<Reference> references;
  bool steady = false;  // whether the outputs stay where they are when the inputs move by a rounding
};

// An Error (unsupported) where nothing that was drawn can be compared, which it says of one output; of kind
// timeout where the watch is over first.
Result<DrawnData> draw_data(const Dag& dag, const ProblemOptions& options, const Watch& watch = {});

// Gives the floats among the references, but for outputs of few values, the slack that neighbours of the
// inputs show (finish_slack).
Status learn_slack(const Dag& dag, const std::vector<HostTensor>& inputs, std::vector<Reference>& references,
                   double tolerance);

// Whether the Dag computes in double alone what it computes in floats.
bool is_in_double(const Dag& dag);

}  // namespace lathe
