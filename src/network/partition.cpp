#include "network/partition.h"

#include <unordered_map>

#include "base/hash.h"
#include "expr/structural_hash.h"
#include "network/fuse.h"
#include "network/group_to_dag.h"

namespace lathe {

namespace {

// Constants come last among the inputs, so their number tells the roles.
uint64_t identity_of(const GroupDag& group) {
  return Hasher().add(hash_of(group.dag)).add(static_cast<uint64_t>(group.constants.size())).finish();
}

// Where the group's arguments lie, and in which layouts. A copy reads its operand in the result's shape: such
// a tensor is row-major in either.
TaskUse use_of(const Graph& graph, const LayoutPlan& plan, const FusedGroup& group, const GroupDag& lowered) {
  TaskUse use{0, graph.nodes[group.anchors.front()].name, {}, {}, {}};
  const Dag& dag = lowered.dag;
  for (size_t i = 0; i < lowered.arguments.size(); ++i) {
    const TensorId id = lowered.arguments[i];
    const Tensor& bound = i < dag.inputs.size() ? dag.inputs[i] : dag.outputs[i - dag.inputs.size()];
    const bool is_itself = bound->shape == graph.tensors[id].type.shape;
    use.arguments.push_back(plan.storage[id]);
    use.layouts.push_back(is_itself ? plan.layouts[id] : Layout::row_major(bound->shape.size()));
  }
  for (const size_t node : group.nodes) use.operators.emplace_back(name_of(graph.nodes[node].op));
  return use;
}

}  // namespace

Result<Partition> partition(const Graph& graph) {
  Partition result;
  const LayoutPlan plan = plan_layouts(graph);
  std::unordered_map<uint64_t, size_t> known;
  for (const FusedGroup& group : fuse(graph, plan)) {
    LATHE_TRY(GroupDag lowered, group_to_dag(graph, group));
    TaskUse use = use_of(graph, plan, group, lowered);
    const auto [entry, is_new] = known.emplace(identity_of(lowered), result.tasks.size());
    if (is_new) result.tasks.push_back({use.name, std::move(lowered.dag), std::move(lowered.constants), 0});
    use.task = entry->second;
    ++result.tasks[use.task].weight;
    result.uses.push_back(std::move(use));
  }
  for (TensorId id : graph.outputs) result.outputs.push_back(plan.storage[id]);
  return result;
}

}  // namespace lathe
