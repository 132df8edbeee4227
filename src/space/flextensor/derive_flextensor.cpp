#include "space/flextensor/derive_flextensor.h"

#include <fmt/format.h>

#include <ranges>

#include "space/estimate.h"

namespace lathe {
namespace {

// Algorithm 1: all questions come before anything is decided.
Result<Trace> write_point(const MiniGraph& graph, NodeOrder order, Chooser& choose) {
  NodeConfigs nodes;
  GraphConfig config;
  const auto ask = [&](const MiniGraphNode& node) {
    nodes[node.name] = choose_node_config(choose, graph, node);
  };
  if (order == NodeOrder::bottom_up) {
    for (const MiniGraphNode& node : graph.nodes) ask(node);
    config = choose_graph_config(choose, graph);
  } else {
    config = choose_graph_config(choose, graph);
    for (const MiniGraphNode& node : graph.nodes | std::views::reverse) ask(node);
  }
  LATHE_TRY(const GraphPlan plan, plan_graph(graph, nodes, config, choose));
  return schedule_in_order(graph, plan, order);
}

}  // namespace

Result<Space> derive_flextensor(const Task& task, NodeOrder order) {
  if (!std::holds_alternative<CpuTarget>(task.target.kind)) {
    return fail(
        ErrorKind::unsupported,
        fmt::format("the space 'flextensor' is for processors, and target '{}' is none", task.target.name));
  }
  if (!task.algorithm.empty() && task.algorithm != kExactSpecials) {
    return fail(ErrorKind::unsupported,
                fmt::format("the space 'flextensor' has no rewrites, and task '{}' requires '{}'", task.name,
                            task.algorithm));
  }
  const auto write = [graph = mini_graph_of(task), order](Chooser& choose) {
    return write_point(graph, order, choose);
  };
  Sketch sketch = declared_sketch("tiled", write);
  sketch.operations = least_operations(task.dag, classify(task, task.dag));
  return Space({std::move(sketch)}, {}, {});
}

Result<Space> derive_flextensor(const Task& task) { return derive_flextensor(task, NodeOrder::bottom_up); }

}  // namespace lathe
