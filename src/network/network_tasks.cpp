#include "network/network_tasks.h"

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace lathe {
namespace {

// Between two runs of one kernel all others read their constants: so many bytes, which transforms may make
// twice as many (`artifact/limit_weights.h`), are more than a core's share of the last-level cache of the
// processors that networks run on. No machine's own figure, which would give the tasks of one network other
// identities from one machine to the next.
constexpr int64_t kDisplacingBytes = 8 << 20;

bool displace_each_other(const Graph& graph, std::span<const TaskUse> uses) {
  std::vector<bool> seen(graph.tensors.size());
  int64_t bytes = 0;
  for (const TaskUse& use : uses) {
    for (const TensorId id : use.arguments) {
      if (seen[id] || !graph.tensors[id].is_constant()) continue;
      seen[id] = true;
      bytes += static_cast<int64_t>(graph.tensors[id].data->size());
    }
  }
  return bytes > kDisplacingBytes;
}

// Of each use. One in the body of a loop runs again after the others of that body.
std::vector<bool> cold_uses(const Graph& graph, const Partition& partition) {
  const std::span<const TaskUse> uses = partition.uses;
  std::vector<bool> of_loops;
  for (const LoopOfUses& loop : partition.loops)
    of_loops.push_back(displace_each_other(graph, uses.subspan(loop.first_use, loop.use_count)));
  const bool outside = displace_each_other(graph, uses);
  std::vector<bool> cold;
  for (const TaskUse& use : uses) {
    std::optional<size_t> loop = use.loop;
    while (loop && partition.loops[*loop].steps <= 1) loop = partition.loops[*loop].parent;
    cold.push_back(loop ? of_loops[*loop] : outside);
  }
  return cold;
}

}  // namespace

Result<NetworkTasks> network_tasks(const Graph& graph, const Partition& partition, const Target& target) {
  NetworkTasks result;
  const std::vector<bool> cold = cold_uses(graph, partition);
  std::unordered_map<uint64_t, size_t> known;
  for (size_t number = 0; number < partition.uses.size(); ++number) {
    const TaskUse& use = partition.uses[number];
    const NetworkTask& origin = partition.tasks[use.task];
    LATHE_TRY(Task task, make_task(origin.name, origin.dag, target, origin.constants));
    task.runs_cold = cold[number];
    if (use.keeps_zeros) task.algorithm = kExactSpecials;
    for (size_t i = 0; i < task.arguments.size(); ++i) task.arguments[i].layout = use.layouts[i];
    const auto [entry, is_new] = known.emplace(hash_of(task), result.tasks.size());
    if (is_new) result.tasks.push_back({std::move(task), 0});
    result.tasks[entry->second].weight += runs_of(partition, use);
    result.uses.push_back(use);
    result.uses.back().task = entry->second;
  }
  return result;
}

}  // namespace lathe
