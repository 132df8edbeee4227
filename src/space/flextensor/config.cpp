#include "space/flextensor/config.h"

#include <algorithm>
#include <utility>

namespace lathe {
namespace {

constexpr int kSpatialParts = 4;
constexpr int kReduceParts = 3;
constexpr int kResultParts = 2;
constexpr int64_t kMostFused = 3;

int parts_of_loop(const MiniGraphNode& node, AxisKind kind) {
  if (kind == AxisKind::reduce) return kReduceParts;
  return node.role == MiniGraphRole::reducing ? kSpatialParts : kResultParts;
}

std::vector<int64_t> choose_parts(Chooser& choose, const MiniGraphNode& node, const Axis& axis) {
  const SplitParameter split{.extent = axis.extent,
                             .parts = parts_of_loop(node, axis.kind),
                             .imperfect = false,
                             .largest_innermost = axis.extent};
  const std::vector<int64_t> ones(static_cast<size_t>(split.parts - 1), 1);
  std::vector<int64_t> parts = choose.choose_split(node.name + "." + axis.var.name(), split, ones);
  int64_t outer = axis.extent;
  for (const int64_t factor : parts) outer /= factor;
  parts.insert(parts.begin(), outer);
  return parts;
}

void choose_order(Chooser& choose, const MiniGraphNode& node, const Compute& compute, NodeConfig& config) {
  const bool takes_turns = !config.order.empty() && !loops_of(compute, AxisKind::reduce).empty();
  if (takes_turns) config.levels = choose.choose_kind(node.name + ".levels", kLevelOrders, 0);
  if (node.innermost.empty()) return;
  int64_t innermost = 0;
  if (node.innermost.size() > 1 && node.role == MiniGraphRole::reducing) {
    const auto count = static_cast<int64_t>(node.innermost.size());
    innermost = choose.choose_kind(node.name + ".innermost", count, 0);
  }
  config.innermost = node.innermost[static_cast<size_t>(innermost)];
}

void choose_fused(Chooser& choose, const MiniGraphNode& node, NodeConfig& config) {
  std::vector<int64_t> counts;
  const auto loops = static_cast<int64_t>(config.order.size());
  for (int64_t count = 1; count <= std::min(loops, kMostFused); ++count) counts.push_back(count);
  if (counts.size() > 1) config.fused = choose.choose(node.name + ".fused", std::move(counts), 1);
}

// An inlinable node may go deeper than any loop.
std::vector<NodePlace> places_of(const MiniGraphNode& node) {
  std::vector<NodePlace> places = {NodePlace::whole};
  if (node.may_share_loops) {
    places.push_back(NodePlace::at_parallel);
    places.push_back(NodePlace::at_tile);
  }
  if (node.may_be_inlined) places.push_back(NodePlace::inlined);
  return places;
}

}  // namespace

NodePlace GraphConfig::of(const std::string& node) const {
  const auto place = places.find(node);
  return place == places.end() ? NodePlace::whole : place->second;
}

std::set<std::string> GraphConfig::inlined() const {
  std::set<std::string> names;
  for (const auto& [name, place] : places) {
    if (place == NodePlace::inlined) names.insert(name);
  }
  return names;
}

NodeConfig choose_node_config(Chooser& choose, const MiniGraph& graph, const MiniGraphNode& node) {
  const Compute& compute = graph.compute(node);
  NodeConfig config{.order = loops_of(compute, AxisKind::spatial)};
  const bool is_tiled = node.role == MiniGraphRole::reducing || node.role == MiniGraphRole::result;
  for (const Axis& axis : compute.axes) {
    const bool splits = is_tiled && axis.extent > 1;
    config.parts.push_back(splits ? choose_parts(choose, node, axis) : std::vector{axis.extent});
  }
  if (node.role == MiniGraphRole::prepared) return config;
  choose_order(choose, node, compute, config);
  choose_fused(choose, node, config);
  if (is_tiled) config.unroll = choose.choose(node.name + ".unroll", {0, 1, 512, 1500}, 0);
  return config;
}

GraphConfig choose_graph_config(Chooser& choose, const MiniGraph& graph) {
  GraphConfig config;
  for (const MiniGraphNode& node : graph.nodes) {
    const std::vector<NodePlace> places = places_of(node);
    if (places.size() < 2) continue;
    const auto count = static_cast<int64_t>(places.size());
    config.places[node.name] =
        places[static_cast<size_t>(choose.choose_kind(node.name + ".place", count, 0))];
  }
  return config;
}

}  // namespace lathe
