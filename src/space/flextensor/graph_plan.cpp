#include "space/flextensor/graph_plan.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "expr/walk.h"
#include "space/flextensor/node_layouts.h"
#include "space/program_length.h"
#include "space/rules/vectors.h"

namespace lathe {

// A tile of more results than this would only be moved to and from the stack.
Scope NodePlan::scope_of_tile() const {
  constexpr int64_t kMostVectors = 96;
  return nest.has_whole_tile() && nest.vectors_of_tile() <= kMostVectors ? Scope::registers : Scope::thread;
}

namespace {

class GraphPlanner {
 public:
  GraphPlanner(const MiniGraph& graph, const NodeConfigs& configs, const GraphConfig& places, Chooser& choose)
      : configs_(configs), places_(places) {
    plan_.inlined = places.inlined();
    plan_.dag = with_inlined(graph.task.dag, plan_.inlined);
    plan_.classified = classify(graph.task, plan_.dag, {}, graph.costs);
    decider_.emplace(Analysis{graph.task, plan_.dag, plan_.classified, graph.costs}, choose);
  }

  Result<GraphPlan> plan() {
    add_nodes();
    for (NodePlan& node : plan_.nodes) find_taker(node);
    for (size_t i = plan_.nodes.size(); i-- > 0;) place(plan_.nodes[i]);
    for (const NodePlan& node : plan_.nodes) {
      if (!node.is_taken && !node.host) LATHE_TRY_STATUS(check_length(node.nest.block, node.nest.statements));
    }
    return std::move(plan_);
  }

 private:
  const Stage& stage(const NodePlan& node) const { return plan_.classified.of(node.compute); }
  const Compute& compute(const NodePlan& node) const { return plan_.dag.computes[node.compute]; }
  const std::string& name(const NodePlan& node) const { return node.nest.block; }
  bool is_whole(const NodePlan& node) const { return places_.of(name(node)) == NodePlace::whole; }
  bool is_intermediate(const NodePlan& node) const {
    return !node.reduces && !plan_.dag.is_output(compute(node).output);
  }
  NodePlan* find(size_t compute) {
    const auto found = std::ranges::find(plan_.nodes, compute, &NodePlan::compute);
    return found == plan_.nodes.end() ? nullptr : &*found;
  }

  // The loops of intermediates wait for their layout.
  void add_nodes() {
    for (const Stage& stage : plan_.classified.stages) {
      const Compute& compute = plan_.dag.computes[stage.compute];
      const std::string& name = compute.output->name;
      if (stage.role == Role::prepared) {
        plan_.prepared.push_back(name);
        continue;
      }
      NodePlan node{.compute = stage.compute, .nest = {.block = name}};
      node.reduces = compute.reduction != Reduction::none;
      if (!is_intermediate(node)) node.nest = nest_of(compute, configs_.at(name), decider_->lanes());
      plan_.nodes.push_back(std::move(node));
    }
  }

  // As deep as asked, but not where a part of the sum is still missing.
  void find_taker(NodePlan& node) {
    const NodePlace place = places_.of(name(node));
    const std::optional<size_t> epilogue = stage(node).epilogue;
    if (!node.reduces || place == NodePlace::whole || !epilogue) return;
    NodePlan* taker = find(*epilogue);
    const auto loop = place == NodePlace::at_tile ? node.nest.whole_sum_loop() : node.nest.parallel_loop();
    if (taker == nullptr || taker->is_taken || !is_whole(*taker) || !loop) return;
    taker->is_taken = true;
    node.taker = ResultTaker{*epilogue, *loop};
  }

  void place(NodePlan& node) {
    if (node.is_taken) return;
    const NodeConfig& config = configs_.at(name(node));
    if (node.reduces) place_tensors(*decider_, stage(node), config, node.nest, node.taker.has_value());
    const Layout layout = decider_->layout_of(compute(node).output);
    if (!node.reduces && !layout.dims.empty())
      place_reads(*decider_, stage(node), static_cast<size_t>(layout.dims.back().dim),
                  layout.dims.back().modulo);
    node.places = decider_->take_places();
    if (!is_intermediate(node)) return;
    node.nest = nest_of(compute(node), along_memory(compute(node), config, layout, decider_->lanes()),
                        decider_->lanes());
    node.host = host_of(node, layout);
  }

  // In its only consumer's loops, or where that itself is hosted, no deeper than that.
  std::optional<HostLoop> host_of(const NodePlan& node, const Layout& layout) {
    const NodePlace place = places_.of(name(node));
    const std::vector<size_t> consumers = plan_.dag.consumers(compute(node).output);
    const NodePlan* consumer = consumers.size() == 1 ? find(consumers[0]) : nullptr;
    if (place == NodePlace::whole || consumer == nullptr || consumer->is_taken) return std::nullopt;
    const std::string& block = consumer->host ? consumer->host->block : name(*consumer);
    const NodePlan& host = *std::ranges::find(
        plan_.nodes, block, [&](const NodePlan& other) { return std::string_view(name(other)); });
    auto loop = place == NodePlace::at_tile ? host.nest.tile_loop() : host.nest.parallel_loop();
    if (!loop) return std::nullopt;
    if (consumer->host) loop = std::min(*loop, consumer->host->depth);
    HostLoop found{block, host.nest.outer_names()[*loop], *loop};
    if (!consumer->host) add_vectors(node, host, layout, found);
    return found;
  }

  // Along what lies innermost, as far as the host reads of it in an iteration.
  void add_vectors(const NodePlan& node, const NodePlan& host, const Layout& layout, HostLoop& found) const {
    if (!node.nest.vector_axis) return;
    const size_t axis = *node.nest.vector_axis;
    int64_t extent = extent_read(compute(node).output, host, found.depth, axis);
    if (layout.dims.back().modulo > 1) extent = std::gcd(extent, layout.dims.back().modulo);
    found.lanes = extent == 0 ? 1 : largest_divisor(extent, decider_->lanes());
    if (found.lanes > 1) found.vector_axis = axis;
  }

  // How many places of this dimension an iteration of the host's loop reads; 0: not known.
  int64_t extent_read(const Tensor& tensor, const NodePlan& host, size_t loop, size_t dim) const {
    const Load* only = nullptr;
    for (const Load* load : loads_of(compute(host).body)) {
      if (load->tensor != tensor) continue;
      if (only != nullptr) return 0;
      only = load;
    }
    if (only == nullptr) return 0;
    int64_t extent = 1;
    const std::vector<Axis>& axes = compute(host).axes;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      if (only->index[dim].uses_inside_atom(axes[axis].var)) return 0;
      extent +=
          std::abs(only->index[dim].coefficient(axes[axis].var)) * (host.nest.extent_inside(loop, axis) - 1);
    }
    return std::min(extent, tensor->shape[dim]);
  }

  const NodeConfigs& configs_;
  const GraphConfig& places_;
  GraphPlan plan_;
  std::optional<Decider> decider_;
};

}  // namespace

Result<GraphPlan> plan_graph(const MiniGraph& graph, const NodeConfigs& nodes, const GraphConfig& config,
                             Chooser& choose) {
  return GraphPlanner(graph, nodes, config, choose).plan();
}

}  // namespace lathe
