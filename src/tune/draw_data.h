// Random inputs for a task, such that what comes of them tells right programs from wrong ones. Floats lie on
// both sides of zero, but for a scalar among tensors, which scales them or keeps a divisor or a root's
// operand away from zero, and is about 1. Where a result is no number (a square root, a logarithm) the same
// are drawn again with their magnitudes alone, and where an output is unsteady (a divisor comes near zero)
// after some others; where a value on the way goes beyond what its type holds, with smaller ones. The same
// seed gives the same data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "expr/dag.h"
#include "loop/host_tensor.h"
#include "tune/compare_output.h"
#include "tune/problem.h"

namespace lathe {

// Inputs, and what is compared of the outputs.
struct DrawnData {
  std::vector<HostTensor> inputs;
  std::vector<Reference> references;
};

// An Error (unsupported) where nothing that was drawn can be compared, which it says of one output.
Result<DrawnData> draw_data(const Dag& dag, const ProblemOptions& options);

// Whether an output is of integers or booleans and the Dag reads floats: then a rounding may change it as
// much as anything can be changed.
bool may_hang_on_rounding(const Dag& dag);

// So many neighbours of the inputs tell what a rounding changes: `number` is 0 .. kNeighbours - 1. Neighbours
// stand in pairs, in which each float has moved one way and the other.
constexpr int kNeighbours = 4;
std::vector<HostTensor> neighbours_of(const Dag& dag, std::vector<HostTensor> inputs, int number);

// Of an output as many elements must be what they are whatever is rounded.
constexpr double kLeastDecidedShare = 0.5;

// Marks as undecided what is something else for a neighbour's inputs (at the reference's points): an integer
// that is another, a float that moved by many times the share by which they did, as beside a pole or a step.
void pass_over_moved(const Dag& dag, Reference& reference, std::span<const double> moved);

// Whether the Dag computes in double alone what it computes in floats.
bool is_in_double(const Dag& dag);

}  // namespace lathe
