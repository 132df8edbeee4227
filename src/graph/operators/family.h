// What each operator family (a file pair in this folder) gives for each of its operators, a small struct
// `XOp` with the attributes: a name (kName or name()), a role in fusion, the least and most number of
// operands, and overloads of
//   attributes_of(op)            the attributes as text, "" if none
//   infer(op, input types)       the result's type; an Error says what does not fit, without naming the node
//   evaluate(op, input values)   the result in double precision, straight from the definition; inputs are as
//                                `infer` accepted them
// and, to become a Dag (graph/group_to_dag.h): an anchor
//   lower(op, builder, operands)         its computes, without what works on each element of the result
// and, where there is such work, for example a bias,
//   needs_epilogue(op, operand count)    whether there is
//   epilogue(op, value, point)           the result's element from the element that `lower` gave
// and an element-wise operator
//   lower(op, point)                     the result's element from those of its operands
// An operator without one of them does not compile: graph/graph.h lists all in the variant `GraphOp`. What
// reads an operator from ONNX is a row of the table in graph/onnx_operators.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "expr/dag.h"
#include "graph/operators/point.h"
#include "graph/tensor_type.h"

namespace lathe {

class OnnxNode;  // graph/onnx_node.h

// How fusion (graph/fuse.h) treats an operator: an anchor begins a group, element-wise work joins its
// producer's group, a view costs nothing and belongs to no group.
enum class FusionRole : uint8_t { anchor, elementwise, view };

// The shape that operands of these shapes broadcast to by NumPy's rule; an Error if they do not.
Result<Shape> broadcast_shapes(const Shape& a, const Shape& b);
// The element of `from`, which broadcasts to the shape of `index`, at that index.
int64_t broadcast_offset(const Shape& from, const Shape& index);
// Steps a row-major index through `shape`; false after the last.
bool next_index(Shape& index, const Shape& shape);
// The axis among `rank` axes that this stands for; negative ones count from the end.
Result<size_t> axis_of(int64_t axis, size_t rank);
// The same of several, ascending; an Error where one is named twice.
Result<std::vector<size_t>> axes_of_list(const Shape& axes, size_t rank);
// An Error unless all types are f32.
Status require_f32(std::span<const TensorType> inputs);

}  // namespace lathe
