#include "space/flextensor/schedule_for_graph.h"

#include <algorithm>
#include <ranges>

#include "expr/walk.h"
#include "schedule/apply.h"
#include "space/flextensor/schedule_for_node.h"

namespace lathe {
namespace {

// The consumer takes the results where they are made, or what the node then collects of them.
void write_taker(Writer& writer, const NodePlan& plan) {
  const Compute& consumer = writer.dag.computes[plan.taker->compute];
  const Tensor& results = writer.dag.computes[plan.compute].output;
  const std::string& block = consumer.output->name;
  const Scope scope = plan.gives_tile() ? plan.scope_of_tile() : Scope::thread;
  writer.add(ReverseComputeAtStep{block, plan.nest.block, plan.nest.outer_names()[plan.taker->loop], scope});
  const std::vector<const Load*> loads = loads_of(consumer.body);
  const auto taken = std::ranges::find(loads, results, [](const Load* load) { return load->tensor; });
  write_result_loops(writer, plan, block, side_loop_names((*taken)->index), plan.taker->loop,
                     scope == Scope::registers);
  collect_results(writer, plan);
}

void write_hosted(Writer& writer, const NodePlan& plan) {
  const std::string& block = plan.nest.block;
  const HostLoop& host = *plan.host;
  write_places(writer, plan.places);
  writer.add(ComputeAtStep{block, host.block, host.name, Scope::thread});
  if (!host.vector_axis) return;
  const std::vector<Axis>& axes = writer.dag.computes[plan.compute].axes;
  const std::string along = axes[*host.vector_axis].var.name();
  writer.add(SplitStep{block, along, {host.lanes}});
  ReorderStep order{block, {}};
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    if (axis != *host.vector_axis) order.loops.push_back(axes[axis].var.name());
  }
  order.loops.push_back(along + ".0");
  order.loops.push_back(along + ".1");
  writer.add(order);
  writer.add(AnnotateStep{block, along + ".1", LoopKind::vectorized});
}

void write_inlined(Writer& writer, const MiniGraph& graph, const GraphPlan& plan) {
  for (const MiniGraphNode& node : graph.nodes) {
    if (plan.inlined.contains(node.name)) writer.add(InlineStep{node.name});
  }
}

// A host comes before what it hosts, since it is a consumer.
void write_bottom_up(Writer& writer, const MiniGraph& graph, const GraphPlan& plan) {
  for (const NodePlan& node : plan.nodes) {
    if (!node.host && !node.is_taken) schedule_for_node(writer, node);
  }
  write_inlined(writer, graph, plan);
  for (const NodePlan& node : plan.nodes | std::views::reverse) {
    if (node.taker) write_taker(writer, node);
    if (node.host) write_hosted(writer, node);
  }
}

void write_top_down(Writer& writer, const MiniGraph& graph, const GraphPlan& plan) {
  write_inlined(writer, graph, plan);
  for (const NodePlan& node : plan.nodes | std::views::reverse) {
    if (node.is_taken) continue;
    if (node.host) {
      write_hosted(writer, node);
    } else {
      schedule_for_node(writer, node);
    }
    if (node.taker) write_taker(writer, node);
  }
}

}  // namespace

Trace schedule_in_order(const MiniGraph& graph, const GraphPlan& plan, NodeOrder order) {
  Writer writer{{graph.task, plan.dag, plan.classified, graph.costs}};
  switch (order) {
    case NodeOrder::bottom_up: write_bottom_up(writer, graph, plan); break;
    case NodeOrder::top_down: write_top_down(writer, graph, plan); break;
  }
  for (const std::string& block : plan.prepared) writer.add(PrepareStep{block});
  return std::move(writer.trace);
}

}  // namespace lathe
