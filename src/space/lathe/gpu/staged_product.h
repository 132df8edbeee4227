// Rule for devices of many threads: a block computes a tile of a product's results along two axes, of which
// each operand has one; it goes through the terms in steps, for each of which its threads copy what they all
// read into shared memory; a thread keeps its results in registers to the end, where the element-wise
// consumer takes them. All other axes of the results are the blocks'.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "space/rules/decider.h"

namespace lathe {

// The axes along which an operand that varies with the one does not vary with the other.
struct SidesOfTile {
  size_t rows = 0;
  size_t columns = 0;
};
// The longest two; nothing where results share operands along fewer.
std::optional<SidesOfTile> sides_of_tile(const Compute& compute, const Stage& stage);

// One side of a block's tile: `apart` groups of `threads` * `each` results.
struct TileSide {
  int64_t apart = 1;    // groups that one thread has a part of
  int64_t threads = 1;  // side by side
  int64_t each = 1;     // results of a thread, side by side

  int64_t results() const { return apart * threads * each; }
};

// An operand's part that a block copies for each step.
struct StagedOperand {
  std::string tensor;
  std::string copy;
  size_t dims = 1;
  int64_t elements = 1;  // of a step
};

struct StagedProductDecision {
  size_t compute = 0;
  SidesOfTile sides = {};
  TileSide rows = {};
  TileSide columns = {};
  size_t stepped = 0;          // the reduce axis that steps go along
  int64_t depth = 1;           // places of it in a step
  bool has_all_inside = true;  // whether a step has all places of the other reduce axes
  std::vector<StagedOperand> staged = {};

  int64_t threads() const { return rows.threads * columns.threads; }
};
// For a stage with sides and something to reduce.
StagedProductDecision decide_staged_product(Decider& decider, const Stage& stage, const SidesOfTile& sides);
void write_staged_product(Writer& writer, const StagedProductDecision& decision);

}  // namespace lathe
