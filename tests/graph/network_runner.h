// Runs a partitioned network task by task through the loop interpreter, all activations in one arena as
// planned.
#pragma once

#include <vector>

#include "graph/partition.h"

namespace lathe {

// The values of the graph's outputs. Throws if a task does not run.
std::vector<Values> run_partition(const Graph& graph, const Partition& partition,
                                  const std::vector<Values>& inputs);

}  // namespace lathe
