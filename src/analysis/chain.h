// Which stages of a Dag belong together: runs of transforms, each read by the next alone, and the product
// between two such runs. Pure functions of the Dag.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "analysis/classify.h"

namespace lathe {

// Transforms, first to last: each but the first reads the one before it, which nobody else reads.
using Chain = std::vector<size_t>;

// The longest chain that ends at this transform.
Chain chain_ending_at(const Dag& dag, const Classified& stages, size_t last);

// The axis of the producer that this axis of the consumer indexes plainly, where the consumer has only one
// operand of it.
std::optional<size_t> axis_of_producer(const Dag& dag, const Stage& consumer, size_t axis, size_t producer);

// How the axes of a chain's stages are used; each list has one entry a stage.
struct ChainAxes {
  std::vector<std::vector<size_t>> common;   // lead from the chain's result to what it reads
  std::vector<std::vector<size_t>> carried;  // of one direction only: the other stages' tables run along them
  std::vector<size_t> table;                 // indexes this stage's table
};
ChainAxes axes_of_chain(const Dag& dag, const Classified& stages, const Chain& chain);

// The common axes of the last stage along which vectors can run: they index what the chain reads by steps of
// one, as an axis or the last digit of a number, and the element-wise consumer, if there is one, reads so,
// too.
std::vector<size_t> vector_axes(const Dag& dag, const Classified& stages, const Chain& chain);

// A product whose result goes into a chain, with the chains that its operands come from: all of them have one
// axis in common, and for a few of its values everything between the first and the last stage fits a cache.
struct Group {
  size_t product = 0;
  Chain consumer;
  std::vector<Chain> producers;
  std::map<size_t, size_t> axis;  // by stage: its axis that is the common one
};
std::optional<Group> group_around(const Dag& dag, const Classified& stages, size_t product);

}  // namespace lathe
