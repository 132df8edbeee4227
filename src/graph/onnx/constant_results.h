// What the import works out of constants: small results of nodes, which later nodes may need to know their
// shapes, and whether constant places lie within what they are places of.
#pragma once

#include <optional>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/onnx/tensor.h"

namespace lathe {

// What a node of constants gives, of that type, where nothing computes it later (integers and bool) or later
// nodes may need its value to know their shapes: numbers with a fraction as few as a tensor has axes. None
// for any other node.
Result<std::optional<OnnxConstant>> small_constant(const GraphBuilder& builder, const GraphNode& node,
                                                   const TensorType& type);
// An Error unless places that are constants lie inside of their axis.
Status check_constant_places(const GraphBuilder& builder, const GraphNode& node);

// The type of a node's result; a slice may have no elements, of shapes that a model computes as a rule.
Result<TensorType> type_given(const GraphBuilder& builder, const GraphNode& node);

// What a node gives that reads tensors without elements and has some of that type itself: the same
// everywhere.
Result<OnnxConstant> constant_of_none(const GraphNode& node, const TensorType& type);

}  // namespace lathe
