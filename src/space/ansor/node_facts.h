// What Ansor's rules ask of a node ([B] II-B; the rules and definitions are those of the code that [B] V
// builds on). A node is a compute of the Dag. Pure functions of loops and accesses; none knows an operator.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/cost_constants.h"
#include "expr/dag.h"

namespace lathe {

struct IterationCounts {
  int64_t spatial = 1;
  int64_t reduce = 1;
};
// Products of the extents; they saturate.
IterationCounts iteration_counts(const Compute& compute);

// Some read leaves out two spatial axes, or one where the node reduces: its elements serve many results. Axes
// of one place are ignored, and so are tables. What takes another tensor point by point is a chain of nodes
// in Ansor, each with one operand that it spreads over the others' axes, and needs no tiles.
bool needs_tiling(const Compute& compute);

// No reduction, not an output, every read in the order of the node's own axes, no function that costs much,
// no branch; and what its readers become stays small.
bool is_strictly_inlinable(const Dag& dag, size_t node, const CostConstants& costs);

// Whether the body may go into its readers at all: it reduces nothing, is no output, nobody reads it at
// places that are only known at run time, and what its readers become stays small.
bool may_be_inlined(const Dag& dag, size_t node, const CostConstants& costs);

// The only consumer, where it reads the node point by point and all else that it reads is made before the
// node.
std::optional<size_t> elementwise_consumer(const Dag& dag, size_t node);

// Too few results for the cores, and enough to add up for each of them.
bool has_parts_for_cores(const Compute& compute, int64_t cores);

}  // namespace lathe
