#include "network/partition.h"

#include <unordered_map>

#include "base/hash.h"
#include "expr/structural_hash.h"
#include "network/group_to_dag.h"

namespace lathe {

namespace {

// Constants come last among the inputs, so their number tells the roles.
uint64_t identity_of(const GroupDag& group) {
  return Hasher().add(hash_of(group.dag)).add(static_cast<uint64_t>(group.constants.size())).finish();
}

}  // namespace

Result<Partition> partition(const Graph& graph) {
  Partition result;
  const std::vector<TensorId> storage = storage_of(graph);
  std::unordered_map<uint64_t, size_t> known;
  for (const FusedGroup& group : fuse(graph)) {
    LATHE_TRY(GroupDag lowered, group_to_dag(graph, group));
    const std::string& name = graph.nodes[group.anchor].name;
    const auto [entry, is_new] = known.emplace(identity_of(lowered), result.tasks.size());
    if (is_new) result.tasks.push_back({name, std::move(lowered.dag), std::move(lowered.constants), 0});
    ++result.tasks[entry->second].weight;
    TaskUse use{entry->second, name, {}};
    for (TensorId id : lowered.arguments) use.arguments.push_back(storage[id]);
    result.uses.push_back(std::move(use));
  }
  for (TensorId id : graph.outputs) result.outputs.push_back(storage[id]);
  return result;
}

}  // namespace lathe
