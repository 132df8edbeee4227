// How far an output's elements hang on how the numbers on the way to them are rounded: beside a pole (a
// quotient whose divisor comes near zero), beside a step (a comparison, a floor) and where a function is
// steep (a high power) a right program may be far from the reference, and so it is where all that is added up
// cancels. Learnt from neighbours of the inputs and from roundings on the way (roundings.h).
// Plain functions of their arguments.
#pragma once

#include <span>
#include <vector>

#include "base/rng.h"
#include "expr/dag.h"
#include "loop/host_tensor.h"
#include "tune/compare_output.h"

namespace lathe {

// Whether some of the Dag's floats have no bound or no value beside others: quotients, logarithms, roots.
bool has_poles(const Dag& dag);
// Of the Dag's inputs those that have a part in what a divisor, a root's or a logarithm's operand is.
std::vector<bool> inputs_beneath_poles(const Dag& dag);
// Whether a little more of some float changes results by much every so often: floors, casts to integers.
bool has_jumps(const Dag& dag);
// Whether an output is of integers or booleans and the Dag reads floats: then a rounding may change it as
// much as anything can be changed.
bool may_hang_on_rounding(const Dag& dag);

// The inputs with each float moved one way or the other by this share of it.
std::vector<HostTensor> nudged(std::vector<HostTensor> inputs, Rng& rng, double by);

// So many neighbours of the inputs tell what a rounding changes: `number` is 0 .. their number - 1.
// Neighbours stand in pairs, in which each float has moved one way and the other by what the results of a
// program may be off: a long sum has many roundings. Floats take more: an element's own motions may happen to
// be small.
constexpr int kIntegerNeighbours = 8;
constexpr int kFloatNeighbours = 12;
std::vector<HostTensor> neighbours_of(const Dag& dag, std::vector<HostTensor> inputs, int number);
// The Dag to evaluate for them: with roundings on the way (roundings.h) where an output's terms cancel, which
// leaves nothing else, and as it is elsewhere, where these are a small part of what the inputs' do.
Dag neighbour_of(const Dag& dag, std::span<const Reference> references, int number);

// Notes what the reference's elements are for a neighbour of the inputs and with roundings on the way: an
// integer that is another is undecided, a float's slack is how far it moved at most.
void add_neighbour(Reference& reference, std::span<const double> moved);
// After all neighbours a float's slack becomes several times its motion, for a program rounds otherwise;
// where it moved by not many times the share by which they did, no more than this share of the largest
// magnitude. Elements whose terms cancel share their motion by the size of these.
void finish_slack(const Dag& dag, Reference& reference, double tolerance);
// Notes, given the squares of what its elements are made of (term_squares.h), which of them are next to
// nothing beside that: what is left there may be roundings alone, which say something for as long as they are
// small beside the terms.
void note_cancellation(Reference& reference, std::span<const double> squares);
// Whether so much of the output hangs on roundings that comparing it would say little.
bool hangs_on_rounding(const Reference& reference);
// Takes the slack from such an output: the check would say nothing.
void forget_what_says_little(Reference& reference);

}  // namespace lathe
