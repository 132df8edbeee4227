#include "network/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/hash.h"
#include "expr/structural_hash.h"
#include "network/fuse.h"
#include "network/group_to_dag.h"
#include "network/keeps_zeros.h"

namespace lathe {

namespace {

// Constants come last among the inputs, so their number tells the roles.
uint64_t identity_of(const GroupDag& group) {
  return Hasher().add(hash_of(group.dag)).add(static_cast<uint64_t>(group.constants.size())).finish();
}

// Where the group's arguments lie, and in which layouts. A copy reads its operand in the result's shape: such
// a tensor is row-major in either.
TaskUse use_of(const Graph& graph, const LayoutPlan& plan, const FusedGroup& group, const GroupDag& lowered) {
  TaskUse use{0, graph.nodes[group.anchors.front()].name, {}, {}, {}, {}};
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

// Lets the loops around the use reach over it.
Status add_to_loops(const TaskUse& use, Partition& partition) {
  const size_t number = partition.uses.size();
  for (std::optional<size_t> at = use.loop; at; at = partition.loops[*at].parent) {
    LoopOfUses& loop = partition.loops[*at];
    if (loop.use_count == 0) loop.first_use = number;
    if (loop.first_use + loop.use_count++ == number) continue;
    return fail(ErrorKind::invalid_program, fmt::format("loop '{}' is not whole", loop.name));
  }
  return {};
}

}  // namespace

int64_t runs_of(const Partition& partition, const TaskUse& use) {
  constexpr int64_t kMostRuns = int64_t{1} << 40;  // as good as for ever, and sums of weights stay in range
  int64_t runs = 1;
  for (std::optional<size_t> at = use.loop; at; at = partition.loops[*at].parent) {
    const LoopOfUses& loop = partition.loops[*at];
    if (loop.condition) continue;
    runs = runs > kMostRuns / std::max<int64_t>(loop.steps, 1) ? kMostRuns
                                                               : runs * std::max<int64_t>(loop.steps, 1);
  }
  return runs;
}

Result<Partition> partition(const Graph& graph) {
  Partition result;
  const LayoutPlan plan = plan_layouts(graph);
  LATHE_TRY(const LoopNest nest, loops_of(graph));
  LATHE_TRY(result.loops, place_steps(graph, nest, plan));
  const std::vector<bool> keeps_zeros = products_that_keep_zeros(graph);
  std::unordered_map<uint64_t, size_t> known;
  for (const FusedGroup& group : fuse(graph, plan)) {
    LATHE_TRY(GroupDag lowered, group_to_dag(graph, group));
    TaskUse use = use_of(graph, plan, group, lowered);
    use.loop = nest.of_node[group.anchors.front()];
    use.keeps_zeros = std::ranges::any_of(group.nodes, [&](size_t node) { return keeps_zeros[node]; });
    const auto [entry, is_new] = known.emplace(identity_of(lowered), result.tasks.size());
    if (is_new) result.tasks.push_back({use.name, std::move(lowered.dag), std::move(lowered.constants), 0});
    use.task = entry->second;
    result.tasks[use.task].weight += runs_of(result, use);
    LATHE_TRY_STATUS(add_to_loops(use, result));
    result.uses.push_back(std::move(use));
  }
  for (TensorId id : graph.outputs) result.outputs.push_back(plan.storage[id]);
  return result;
}

}  // namespace lathe
