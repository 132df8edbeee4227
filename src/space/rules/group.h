// Rule: a product between two chains of transforms is computed for a group of one common axis at a time, from
// the first chain's input to the last one's output, so that what lies between them stays in the second-level
// cache beside a panel of the other operand. Several cores do a group each, or, where the axis is too short
// for what every group fetches of the other operand, every stage together, one after another.
#pragma once

#include <vector>

#include "analysis/chain.h"
#include "space/rules/product/product.h"
#include "space/rules/transform.h"

namespace lathe {

struct GroupDecision {
  size_t last = 0;        // the stage whose loops hold all others
  size_t axis = 0;        // of it: the common one
  int64_t size = 1;       // places of it in a group
  bool is_whole = false;  // one group of all, which several cores do stage by stage
  Places places = {};
  ChainDecision consumer = {};
  ProductDecision product = {};
  std::vector<ChainDecision> producers = {};
};
GroupDecision decide_group(Decider& decider, const Group& group, const TileAxes& tile);
void write_group(Writer& writer, const GroupDecision& decision);

}  // namespace lathe
