// The meaning of a graph: evaluates it naively in double precision, straight from each operator's definition.
// Slow; for tests, for checks of small networks and for folding constants.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace lathe {

// One node's result; `inputs` as shape inference accepted them.
Values evaluate_node(const GraphNode& node, std::span<const Values> inputs);
// The same of constants, as the result's elements; null where a double may not hold what comes of integers of
// 64 bits, and where it would take seconds.
std::shared_ptr<const Bytes> evaluate_constants(const GraphNode& node,
                                                std::span<const GraphTensor* const> operands);
// Every tensor's value. An Error if the number, sizes or shapes of `inputs` (in the order of the graph's)
// differ from the graph's.
Result<std::vector<Values>> evaluate_tensors(const Graph& graph, std::span<const Values> inputs);
// The values of the graph's outputs.
Result<std::vector<Values>> evaluate_graph(const Graph& graph, std::span<const Values> inputs);

}  // namespace lathe
