// Products whose rows of zeros must stay zeros: what divides by a row's own norm makes the least that
// rounding leaves of such a row (padding's, as of shifted windows) as large as any other. Algorithms that add
// up rows beside each other leave that much (rewrite/strassen.h, rewrite/winograd.h).
#pragma once

#include <vector>

#include "graph/graph.h"

namespace lathe {

// Of each node, whether it is a product whose result goes to a sum of squares or magnitudes of its own, as it
// is, moved, scaled, with a constant added, or through functions of single elements. Norms with the mean of
// squares do not count: their epsilon is large beside what rounding leaves.
std::vector<bool> products_that_keep_zeros(const Graph& graph);

}  // namespace lathe
