// What a point of the space `flextensor` is made of ([F] 4.2, algorithm 1): a config for every node and one
// for the graph. Each is asked of a Chooser, in this order for a node: split, reorder, fuse, then unroll.
// Parallel and vectorize are not asked: on processors the outermost (fused) loop is the one and the innermost
// the other.
//
// Where [F] leaves something open:
//  - spatial loops of a reducing node are split in 4 parts, its reduce loops in 3, those of a result without
//    reduce loops in 2; an intermediate without reduce loops uses nothing twice and is not tiled. Factors
//    divide.
//  - reorder is two questions: in which of three ways the levels of spatial and reduce loops take turns, and
//    which loop is the innermost of its level.
//  - fuse says how many of the outermost loops become one, 3 at the most.
//  - unroll: 0 writes out nothing, 1 the innermost tile of results, 512 and 1500 the innermost loops up to so
//    many statements.
//  - a node's place is inline and compute_at in one, since an inlined node is computed nowhere else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "space/chooser.h"
#include "space/flextensor/mini_graph.h"

namespace lathe {

// How many ways the levels of a reducing node can take turns.
inline constexpr int64_t kLevelOrders = 3;

struct NodeConfig {
  std::vector<std::vector<int64_t>> parts = {};  // of each axis, outermost first; their product is its extent
  std::vector<size_t> order = {};                // of the spatial axes within a level, outermost first
  int64_t levels = 0;                            // which of the kLevelOrders
  std::optional<size_t> innermost = {};          // the axis of the innermost loop
  int64_t fused = 1;
  int64_t unroll = 0;
};

// Where a node is computed.
enum class NodePlace : uint8_t {
  whole,        // in loops of its own
  at_parallel,  // in each iteration of the parallel loop that it shares with its consumer
  at_tile,      // in each iteration of the loop around the innermost tile
  inlined,      // wherever it is read
};
struct GraphConfig {
  std::map<std::string, NodePlace> places;  // of nodes by their names; `whole` where there is none

  NodePlace of(const std::string& node) const;
  std::set<std::string> inlined() const;
};

NodeConfig choose_node_config(Chooser& choose, const MiniGraph& graph, const MiniGraphNode& node);
GraphConfig choose_graph_config(Chooser& choose, const MiniGraph& graph);

}  // namespace lathe
