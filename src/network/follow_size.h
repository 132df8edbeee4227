// The size of a free dimension through a whole network: a graph in which an axis of some inputs has one size,
// made to one where it has another, with what follows for all tensors behind them. What a result is made of
// is asked of each operator's own computes (network/follow_dag.h), so nothing is believed of an operator that
// they do not say. Pure.
#pragma once

#include <map>
#include <memory>
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

// Constants that are computed of the size and keep their shape: what they are at each size from `least` on.
struct SizeNumbers {
  int64_t least = 1;
  std::map<TensorId, std::vector<std::shared_ptr<const Bytes>>> values;
};

struct FollowedSize {
  Graph graph;
  int64_t size = 0;              // of the dimension in it
  std::vector<FreeParts> parts;  // of each tensor
  SizeNumbers numbers;
  std::vector<size_t> combining;  // nodes that combine its places: sums, softmax
  std::vector<size_t> from_end;   // nodes that take fixed places, counted from the last one
  // Why a result is not that of each place by itself, as that of a batch is: a sentence that names the node.
  std::optional<std::string> together;
  int64_t least_size = 1;    // what reads of fixed places ask for
  std::string least_reader;  // the node that asks for it, where it is more than 1

  bool is_apart() const { return !together; }
};

// The graph with the dimension, which has the same size in all of `inputs`, at `size`, 2 at least. Where the
// sizes differ, shapes and attributes of operators that spell the old one spell the new one, and what all
// places share is repeated. `known`: what compare_sizes says of the first tensors, for constants and for what
// is repeated, or numbering_constants. `units`: of a dimension of one place (free_parts.h). `numbers` reach
// to that size at least, where there are any. An Error names the node where a result is not made of its own
// places alone.
Result<FollowedSize> follow_size(const Graph& graph, std::span<const FreeInput> inputs, int64_t size,
                                 std::span<const FreeParts> known, UnitPlaces units = UnitPlaces::first,
                                 const SizeNumbers& numbers = {});

// The graph at a size that is no larger. What its constants have along the dimension are their first places.
Result<Graph> at_size(const FollowedSize& followed, int64_t size);

// The axes of its operand along which a node of `from_end` takes fixed places.
std::vector<size_t> fixed_axes(const FollowedSize& followed, const GraphNode& node);

}  // namespace lathe
