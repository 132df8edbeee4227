// What the configs of all nodes and of the graph ([F] 5.3, algorithm 1) come to: for each node that is left
// once some are inlined its loops, the layouts that it decides, and the loop of another node that it is
// computed in, if any. Layouts are decided from the outputs to the inputs, so that a consumer says how its
// operands lie.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "space/flextensor/config.h"
#include "space/flextensor/node_nest.h"
#include "space/rules/decider.h"

namespace lathe {

using NodeConfigs = std::map<std::string, NodeConfig>;  // by the nodes' names

// The element-wise consumer that takes a reducing node's results in one of the node's outer loops.
struct ResultTaker {
  size_t compute = 0;
  size_t loop = 0;  // its place in the node's outer_names
};

// The loop of another node that an intermediate is computed in.
struct HostLoop {
  std::string block;
  std::string name;
  size_t depth = 0;                        // its place in that node's outer_names
  std::optional<size_t> vector_axis = {};  // the intermediate's, along which it has vectors there
  int64_t lanes = 1;
};

struct NodePlan {
  size_t compute = 0;  // in the inlined Dag
  NodeNest nest;
  Places places = {};
  bool reduces = false;
  bool is_taken = false;  // by the node whose results it takes
  std::optional<ResultTaker> taker = {};
  std::optional<HostLoop> host = {};

  // Whether its results are taken where the innermost tile is computed.
  bool gives_tile() const { return taker && taker->loop == nest.tile_loop(); }
  // Where a tile's results are while it is computed.
  Scope scope_of_tile() const;
};

struct GraphPlan {
  Dag dag;  // without the inlined nodes
  Classified classified;
  std::set<std::string> inlined;
  std::vector<std::string> prepared;  // what is computed at load time, producers before consumers
  std::vector<NodePlan> nodes;        // all others, in post-order
};

// An Error where a body would become too long by unrolling. Asks nothing more of the chooser.
Result<GraphPlan> plan_graph(const MiniGraph& graph, const NodeConfigs& nodes, const GraphConfig& config,
                             Chooser& choose);

}  // namespace lathe
