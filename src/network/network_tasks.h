// A partitioned network as tasks with layouts: what is tuned, and what the artifact's kernels are made for.
// The tasks of a network with more constants than caches hold run cold, those of a loop's body where the body
// has.
#pragma once

#include <vector>

#include "base/result.h"
#include "network/partition.h"
#include "task/task.h"

namespace lathe {

// A task of a network, with the layouts of its arguments, and how often the network runs it.
struct WeightedTask {
  Task task;
  int64_t weight = 0;
};

struct NetworkTasks {
  std::vector<WeightedTask> tasks;  // no two with the same hash
  std::vector<TaskUse> uses;        // `task` is an index into `tasks`; in an order in which they can run
};

// An Error where a task cannot be made. A task of the partition becomes several where its uses have different
// layouts.
Result<NetworkTasks> network_tasks(const Graph& graph, const Partition& partition, const Target& target);

}  // namespace lathe
