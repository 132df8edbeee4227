// A graph that a pass writes anew, node by node, with others between them; and what quantizers write in one:
// reals that are made of integers of 8 bits, by the nodes that import makes of a DequantizeLinear.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace lathe {

// Numbers that a constant gives, of a shape that broadcasts.
struct BroadcastNumbers {
  Shape shape;
  std::vector<double> values;
};

// Its one number; none where it has several.
std::optional<double> single(const BroadcastNumbers& numbers);

// A tensor (numbers - zero) * scale of f32: what a quantizer writes between integers of 8 bits.
struct Dequantized {
  TensorId numbers = 0;
  std::optional<BroadcastNumbers> zero;  // none where it is 0
  BroadcastNumbers scale;
};

class Rewriting {
 public:
  explicit Rewriting(const Graph& graph);

 protected:
  // The node that gives a tensor, as it was, if its operator is of this kind.
  template <class Op>
  const GraphNode* producer(TensorId id) const {
    const GraphNode* node = any_producer(id);
    return node != nullptr && std::holds_alternative<Op>(node->op) ? node : nullptr;
  }
  const GraphNode* any_producer(TensorId id) const;
  const GraphNode* zip_producer(TensorId id, ZipFunction function) const;
  const TensorType& type_of(TensorId id) const { return result_.tensors[id].type; }
  // A constant, or one in another shape.
  std::optional<BroadcastNumbers> numbers_of(TensorId id) const;
  // Whether a tensor is made from integers by a scale and perhaps a zero point that are constants.
  std::optional<Dequantized> scaled_integers(TensorId id) const;
  // The same from integers of 8 bits.
  std::optional<Dequantized> dequantized(TensorId id) const;
  // The type of 8 bits that the numbers have, or, of a constant, that holds them all: where the model was
  // read, weights became differences to their zero points.
  std::optional<DType> narrow_type(TensorId id) const;

  // What is added to the new graph, named after what it comes from; each gives its tensor.
  TensorId constant(const std::string& base, DType dtype, const Shape& shape,
                    const std::vector<double>& values);
  TensorId add(const GraphNode& origin, GraphOp op, std::vector<TensorId> inputs);
  TensorId zip(const GraphNode& origin, ZipFunction function, TensorId a, TensorId b) {
    return add(origin, ZipOp{function}, {a, b});
  }
  // The last node added gives what the original one gave, under its name.
  void finish(const GraphNode& origin);

  const Graph& graph_;
  Graph result_;
  std::vector<int> producers_;  // in `graph_`

 private:
  std::string fresh(const std::string& base);

  std::set<std::string> names_;
};

}  // namespace lathe
