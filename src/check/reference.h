// All elements of a task's outputs, from the Dag alone and fast enough to check each winner with: one compute
// after another, unfused, floats in double precision and integers as they are. The large ones run as machine
// code, of the program that the analytic model chooses for them without any rewrite; what cannot be compiled
// that way is evaluated as the mathematics says (loop/evaluate.h). It shares rules and the code generator
// with candidates but neither their precision, their tiles nor their fusion; the caller compares some points
// with the evaluator.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/watch.h"
#include "check/stored.h"
#include "expr/dag.h"
#include "loop/host_tensor.h"
#include "measure/candidate_runner.h"
#include "target/target.h"

namespace lathe {

// The Dag's outputs for these inputs, in order; by this machine's processor where the target is another kind
// of device. An Error where the inputs are not the Dag's or nothing can be
// run any more, of kind timeout where the watch ends it or nothing but an evaluation that takes longer is
// left.
Result<std::vector<HostTensor>> compute_reference(const Dag& dag, std::span<const StoredTensor> inputs,
                                                  const Target& device, CandidateRunner& runner,
                                                  const Watch& watch = {});
// The Dag's own evaluation of every element, which is slow; within the watch's time likewise.
Result<std::vector<HostTensor>> evaluate_within(const Dag& dag, std::span<const HostTensor> inputs,
                                                const Watch& watch);

// The same Dag with f64 in the place of the narrower floats that it computes; nothing where it has f64 of its
// own. Its inputs stay as they are.
std::optional<Dag> in_double(const Dag& dag);

}  // namespace lathe
