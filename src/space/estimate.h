// A first guess at how the ways to compute a task compare, from sizes alone: it orders sketches before
// anything is measured, and decides nothing after that.
#pragma once

#include <set>

#include "space/classify.h"

namespace lathe {

// Cycles of one core: multiply-adds in full vectors at the rate of the units, or the time in which a
// product's prepared operand comes from beyond the second-level cache, whichever is longer. Products that are
// not among the `tiled` computes are taken to go one element at a time.
double estimated_cycles(const Task& task, const Dag& dag, const Classified& stages,
                        const std::set<size_t>& tiled);

}  // namespace lathe
