// Rule: a chain of transforms runs one vector at a time. All stages of the chain work on the same lanes, so
// what is between them is a few vectors that stay near; the loops over a table are unrolled, so that its
// entries are literals and the zeros among them vanish; a stage's results are accumulated in registers. A
// round is all places of a stage's table at one place of its other loops: what the next stage reads round by
// round stays in registers too.
#pragma once

#include <optional>
#include <vector>

#include "analysis/chain.h"
#include "space/rules/decider.h"
#include "space/rules/reduction.h"

namespace lathe {

struct ChainDecision {
  Chain chain = {};
  std::optional<size_t> group_axis = {};  // of its last stage, outermost: the chain stands in a group's loop
  Places places = {};
  std::vector<size_t> vector_axes = {};            // a stage: the axis that vectors run along
  std::vector<ReductionDecision> reductions = {};  // in their place where vectors can run along no axis
};
ChainDecision decide_chain(Decider& decider, const Chain& chain, std::optional<size_t> group_axis = {});
void write_chain(Writer& writer, const ChainDecision& decision);

}  // namespace lathe
