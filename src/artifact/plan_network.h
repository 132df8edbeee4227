// From graphs at several sizes to a network whose plans share tasks and constants.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "artifact/free_network.h"
#include "base/result.h"
#include "graph/graph.h"
#include "network/free_sizes.h"
#include "network/network_tasks.h"
#include "network/partition.h"

namespace lathe {

// The network at one tuple of sizes.
struct NetworkPlan {
  std::vector<int64_t> sizes;  // an entry a free dimension
  Graph graph;
  Partition partition;
  std::vector<TaskUse> uses;  // of the network's tasks
};

// The network in a file, simplified, cut into tasks and given layouts: what is tuned and what is compiled;
// with `exact_specials` each task as with_exact_specials gives it.
struct Network {
  std::string name;  // the file's, without what says its kind
  Graph graph;       // at the largest sizes
  Partition partition;
  NetworkTasks tasks;  // the tasks of all plans; the uses of the largest
  FreeSizes free = {};
  std::vector<NetworkPlan> smaller = {};  // at the other sizes that kernels are made for
};

// Simplifies each graph, cuts it into tasks and gives it layouts. Tasks that several plans have are one,
// whose weight counts the uses in all; constants that hold the same are one in memory. The network's name is
// that of the first graph. With a `precision`, f16 or bf16, weights are kept in it, and where the target has
// an instruction for its products activations too (graph/narrow_storage.h).
Result<Network> plan_network(SizedGraphs read, const Target& target, std::optional<DType> precision = {});

}  // namespace lathe
