// Rule: a reduction without reuse is bound by memory. Vectors run along a spatial axis that every operand
// reads contiguously, from any element on (a window that slides); where there is none, part of the reduction
// runs in the lanes and is added up at the end. Long reductions are cut in parts, whose results are reduced
// in turn.
#pragma once

#include <optional>

#include "space/rules/decider.h"
#include "space/rules/sum_in_lanes.h"

namespace lathe {

struct ReductionDecision {
  size_t compute = 0;
  Places places = {};
  std::optional<size_t> vector_axis = {};  // contiguous in every operand
  int64_t vectors = 1;                     // side by side along it
  Parts parts = {};
  bool in_lanes = false;  // without such an axis: whether the reduction runs in the lanes
  int64_t together = 1;   // results, or parts of one, side by side where it does
};
ReductionDecision decide_reduction(Decider& decider, const Stage& stage);
void write_reduction(Writer& writer, const ReductionDecision& decision);

}  // namespace lathe
