// The size of a free dimension through a whole network: a graph in which an axis of some inputs has one size,
// made to one where it has another, with what follows for all tensors behind them. What a result is made of
// is asked of each operator's own computes (network/follow_dag.h), so nothing is believed of an operator that
// they do not say. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "network/free_parts.h"

namespace lathe {

// The axis of an input that the dimension is.
struct FreeInput {
  TensorId input = 0;
  size_t axis = 0;
};

struct FollowedSize {
  Graph graph;
  int64_t size = 0;               // of the dimension in it
  std::vector<FreeParts> parts;   // of each tensor
  std::vector<size_t> combining;  // nodes that combine its places: sums, softmax
  // Why a result is not that of each place by itself, as that of a batch is: a sentence that names the node.
  std::optional<std::string> together;
  int64_t least_size = 1;    // what reads of fixed places ask for
  std::string least_reader;  // the node that asks for it, where it is more than 1

  bool is_apart() const { return !together; }
};

// Of each tensor the axes that have the dimension's size in a network that was read at two sizes: those too
// that follow it without any input's doing so, of constants and of what is repeated. None where the graphs
// differ in more than that.
std::vector<FreeParts> compare_sizes(const Graph& graph, int64_t size, const Graph& other,
                                     int64_t other_size);

// The same where a network is read at one size: integers that number so many places, or are the same at each,
// places of a table that are taken in turn, and what is repeated so often.
std::vector<FreeParts> numbering_constants(const Graph& graph, int64_t size);

// The graph with the dimension, which has the same size in all of `inputs`, at `size`, 2 at least. Where the
// sizes differ, shapes and attributes of operators that spell the old one spell the new one, and what all
// places share is repeated. `known`: what compare_sizes says of the first tensors, for constants and for what
// is repeated, or numbering_constants. `units`: of a dimension of one place (free_parts.h). An Error names
// the node where a result is not made of its own places alone.
Result<FollowedSize> follow_size(const Graph& graph, std::span<const FreeInput> inputs, int64_t size,
                                 std::span<const FreeParts> known, UnitPlaces units = UnitPlaces::first);

// The graph at a size that is no larger. What its constants have along the dimension are their first places.
Result<Graph> at_size(const FollowedSize& followed, int64_t size);

// An Error that names the first node, input or constant in which they differ; `what` is what it says of the
// second graph: "at size 5". What is computed of constants in one of them may be a constant in the other.
Status check_same(Graph graph, Graph other, const std::string& what);

}  // namespace lathe
