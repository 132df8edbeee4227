// A sketch of the space `lathe` in two functions: what its stages are decided to be, by the rules of
// space/rules and the chooser's answers, and the trace that this makes. Nothing that is decided depends on
// what was written.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "space/lathe/plan.h"
#include "space/rules/group.h"
#include "space/rules/pointwise.h"
#include "space/rules/product/product.h"
#include "space/rules/reduction.h"
#include "space/rules/row_block.h"
#include "space/rules/sum_in_lanes.h"
#include "space/rules/transform.h"

namespace lathe {

using StageDecision = std::variant<PointwiseDecision, ReductionDecision, SumInLanesDecision, ChainDecision,
                                   ProductDecision, GroupDecision, RowBlockDecision>;

struct SketchDecision {
  std::vector<StageDecision> stages;  // from the outputs to the inputs
  std::vector<std::string> streamed;  // outputs that are written past the caches
};

// An Error where the answers do not go together.
Result<SketchDecision> decide_sketch(const Plan& plan, Chooser& chooser);
Trace write_sketch(const Plan& plan, const SketchDecision& decision);

}  // namespace lathe
