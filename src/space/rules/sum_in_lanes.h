// Rule: a product of few results whose vectors run along the reduction: a block of results at a time, each
// from partial sums in the lanes (rfactor), and of the parts of a long sum.
#pragma once

#include <cstdint>

#include "space/rules/decider.h"

namespace lathe {

// One reduce axis cut in parts.
struct Parts {
  size_t axis = 0;
  int64_t count = 1;  // at the most
  int64_t size = 1;   // of each but the last
};
// How many parts a reduction needs, for sums that stay exact and for work for every core.
int64_t needed_parts(const Analysis& analysis, const Compute& compute);
// So many parts at the most of the axis that is best cut in as many as are needed.
Parts parts_of(const Analysis& analysis, const Compute& compute, int64_t needed, int64_t count);

struct SumInLanesDecision {
  size_t compute = 0;
  Places places = {};
  Parts parts = {};
  int64_t together = 1;  // results side by side
};
SumInLanesDecision decide_sum_in_lanes(Decider& decider, const Stage& stage);
void write_sum_in_lanes(Writer& writer, const SumInLanesDecision& decision);

// Partial results in the lanes: the innermost reduce loop is split by the vector width. Where the width does
// not divide it, the last step leaves the lanes beyond its end alone. `sharing` is the number of last axes
// along which results share what they read: a part is then the outer loop around those of all results.
void write_along_reduction(Writer& writer, const Compute& compute, const Parts& parts, int64_t together,
                           size_t sharing = 0);

}  // namespace lathe
