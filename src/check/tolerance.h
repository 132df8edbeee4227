// How near a program's outputs must be to the reference, as a share of their magnitude, where nothing else is
// known of them. Pure functions.
#pragma once

#include "expr/dag.h"
#include "schedule/trace.h"

namespace lathe {

// How many terms the Dag's longest sum has.
double longest_sum(const Dag& dag);
// The rounding of sums of the Dag's longest reduction, in less than double where anything is, times what the
// trace's algorithm is known to lose; and one rounding for each compute that a half float is stored by.
double relative_tolerance(const Dag& dag, const Trace& trace);

}  // namespace lathe
