// Tensors of which only a run of the model tells how long they are along an axis: the graph has them at their
// largest extent, and a number that says how many places from the first on count.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "graph/graph.h"

namespace lathe {

struct Counted {
  size_t axis = 0;
  TensorId count = 0;  // one i64

  bool operator==(const Counted&) const = default;
};

class CountedTensors {
 public:
  // `builder` must outlive the object.
  explicit CountedTensors(const GraphBuilder& builder) : builder_(builder) {}

  void set(TensorId id, Counted counted) { counted_[id] = counted; }
  // None where every place counts.
  std::optional<Counted> find(TensorId id) const;
  // What the node's result, of that shape, is by its operands. An Error where what counts of them is not what
  // counts of it: Lathe follows element-wise operators, those that move elements and leave the axis whole,
  // reductions and products along other axes, and what such a tensor looks up.
  Result<std::optional<Counted>> result_of(const GraphNode& node, const Shape& shape) const;
  // "'x' has up to 8 places along axis 0, and only a run tells how many": for who cannot take the tensor.
  std::string refusal(TensorId id) const;

 private:
  const GraphBuilder& builder_;
  std::unordered_map<TensorId, Counted> counted_;
};

// Makes an output of how many places of the output `name` count; gives its own name.
Result<std::string> give_count(GraphBuilder& builder, const std::string& name, const Counted& counted);

// Adds what an output of the model of that name needs, of which only the first places of `all` count: the
// result is a node that gives these, and 0 in the others.
Result<GraphNode> cut_behind_count(GraphBuilder& builder, const std::string& name, TensorId all,
                                   const Counted& counted);

}  // namespace lathe
