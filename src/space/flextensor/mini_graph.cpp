#include "space/flextensor/mini_graph.h"

#include <algorithm>
#include <optional>

#include "expr/loop_counts.h"
#include "expr/walk.h"

namespace lathe {

std::vector<size_t> loops_of(const Compute& compute, AxisKind kind) {
  std::vector<size_t> loops;
  for (size_t axis = 0; axis < compute.axes.size(); ++axis) {
    if (compute.axes[axis].kind == kind && compute.axes[axis].extent > 1) loops.push_back(axis);
  }
  return loops;
}

Dag with_inlined(Dag dag, const std::set<std::string>& names) {
  for (size_t i = dag.computes.size(); i-- > 0;) {
    if (names.contains(dag.computes[i].output->name)) dag = inline_compute(dag, i);
  }
  return dag;
}

namespace {

MiniGraphRole role_in(const Dag& dag, const Stage& stage) {
  const Compute& compute = dag.computes[stage.compute];
  if (stage.role == Role::prepared) return MiniGraphRole::prepared;
  if (compute.reduction != Reduction::none) return MiniGraphRole::reducing;
  return dag.is_output(compute.output) ? MiniGraphRole::result : MiniGraphRole::intermediate;
}

// Whether vectors along a spatial axis find this operand side by side, or find it packed so.
bool offers_vectors(const Operand& operand, size_t axis) {
  if (!operand.uses[axis]) return false;
  if (operand.is_constant || operand.is_prepared) return operand.dim_of_axis[axis] >= 0;
  std::optional<int> last;
  for (size_t d = 0; d < operand.load->tensor->shape.size(); ++d) {
    if (operand.load->tensor->shape[d] > 1) last = static_cast<int>(d);
  }
  return last && operand.step_dim[axis] == *last;
}

// That of the results first; three at the most.
std::vector<size_t> innermost_loops(const Compute& compute, const Stage& stage) {
  constexpr size_t kMost = 3;
  std::vector<size_t> found;
  std::vector<size_t> loops = loops_of(compute, AxisKind::spatial);
  for (size_t i = loops.size(); i-- > 0 && found.size() < kMost;) {
    const bool is_last = i + 1 == loops.size();
    const bool offered = std::ranges::any_of(
        stage.operands, [&](const Operand& operand) { return offers_vectors(operand, loops[i]); });
    if (is_last || offered) found.push_back(loops[i]);
  }
  return found;
}

// Whether the consumers' reads of a node, each replaced by the node's body, leave expressions of some size.
bool stays_small_where_read(const Dag& dag, size_t compute, const CostConstants& costs) {
  const std::vector<size_t> consumers = dag.consumers(dag.computes[compute].output);
  return std::ranges::all_of(consumers, [&](size_t consumer) {
    const std::vector<const Load*> loads = loads_of(dag.computes[consumer].body);
    const auto reads = static_cast<size_t>(std::ranges::count(loads, dag.computes[compute].output,
                                                              [](const Load* load) { return load->tensor; }));
    return reads <= 1 ||
           static_cast<int64_t>(reads * size_of(dag.computes[compute].body)) <= whole(costs.largest_inlined);
  });
}

// Each is judged with all before it inlined: so any of them may be, whichever others are.
void find_inlinable(MiniGraph& graph, Dag& inlined) {
  for (MiniGraphNode& node : graph.nodes) {
    if (node.role != MiniGraphRole::intermediate) continue;
    const auto place =
        std::ranges::find(inlined.computes, node.name,
                          [](const Compute& compute) { return std::string_view(compute.output->name); }) -
        inlined.computes.begin();
    node.may_be_inlined = stays_small_where_read(inlined, static_cast<size_t>(place), graph.costs);
    if (node.may_be_inlined) inlined = inline_compute(inlined, static_cast<size_t>(place));
  }
}

std::set<std::string> nodes_with_epilogue(const Task& task, const Dag& dag, const CostConstants& costs) {
  std::set<std::string> names;
  for (const Stage& stage : classify(task, dag, {}, costs).stages) {
    if (stage.epilogue) names.insert(dag.computes[stage.compute].output->name);
  }
  return names;
}

}  // namespace

MiniGraph mini_graph_of(const Task& task) {
  MiniGraph graph{.task = task};
  const Classified classified = classify(task, task.dag, {}, graph.costs);
  for (const Stage& stage : classified.stages) {
    const Compute& compute = task.dag.computes[stage.compute];
    graph.nodes.push_back({.name = compute.output->name,
                           .compute = stage.compute,
                           .role = role_in(task.dag, stage),
                           .innermost = innermost_loops(compute, stage)});
  }
  Dag inlined = task.dag;
  find_inlinable(graph, inlined);
  const DagAnalysis analysis = analyse(task.dag);
  std::set<std::string> fusible = nodes_with_epilogue(task, task.dag, graph.costs);
  fusible.merge(nodes_with_epilogue(task, inlined, graph.costs));
  for (MiniGraphNode& node : graph.nodes) {
    if (node.role == MiniGraphRole::intermediate)
      node.may_share_loops = analysis.nodes[node.compute].consumers == 1;
    if (node.role == MiniGraphRole::reducing) node.may_share_loops = fusible.contains(node.name);
  }
  return graph;
}

}  // namespace lathe
