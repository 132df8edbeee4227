// What each operator family (a file pair in this folder) gives for each of its operators, a small struct
// `XOp` with the attributes: a name (kName or name()), a role in fusion, the least and most number of
// operands, and overloads of
//   attributes_of(op)            the attributes as text, "" if none
//   infer(op, input types)       the result's type; an Error says what does not fit, without naming the node
//   evaluate(op, input values)   the result in double precision, straight from the definition; inputs are as
//                                `infer` accepted them
//   steps_of(op, input types)    where `evaluate` adds up far more terms than there are elements: as many
//                                multiply-adds of a plain product (a term that is found by its index: 8)
// and, to become a Dag (network/group_to_dag.h): an anchor
//   lower(op, builder, operands)         its computes, without what works on each element of the result
// and, where there is such work, for example a bias,
//   needs_epilogue(op, operand count)    whether there is
//   epilogue(op, value, point)           the result's element from the element that `lower` gave
// and an element-wise operator
//   lower(op, point)                     the result's element from those of its operands
// An operator whose result holds elements of its operands and nothing else says so by `kMovesElements`.
// One over [N, C, spatial axes ..] that works on the channels of each place says so by `kHasChannels`: it
// wants them innermost (network/plan_layouts.h). An operator without one of the others does not compile:
// graph/graph.h lists all in the variant `GraphOp`. What reads an operator from ONNX is a row of the table in
// graph/onnx/operators.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "expr/dag.h"
#include "expr/values.h"
#include "graph/operators/point.h"
#include "graph/tensor_type.h"

namespace lathe {

class OnnxNode;  // graph/onnx/node.h

// How fusion (network/fuse.h) treats an operator: an anchor begins a group, element-wise work joins its
// producer's group, a view costs nothing and belongs to no group; nor does what stands at the border of a
// loop.
enum class FusionRole : uint8_t { anchor, elementwise, view, border };

// The shape that operands of these shapes broadcast to by NumPy's rule; an Error if they do not.
Result<Shape> broadcast_shapes(const Shape& a, const Shape& b);
// The element of `from`, which broadcasts to the shape of `index`, at that index.
int64_t broadcast_offset(const Shape& from, const Shape& index);
// Steps a row-major index through `shape`; false after the last.
bool next_index(Shape& index, const Shape& shape);
// The result whose element at each index is the operand's at `source(index)`.
template <class Source>
Values moved(const Values& operand, const Shape& shape, Source source) {
  Values result{shape, {}};
  result.data.reserve(static_cast<size_t>(elements_of(shape)));
  Shape index(shape.size(), 0);
  do {
    result.data.push_back(operand.data[static_cast<size_t>(broadcast_offset(operand.shape, source(index)))]);
  } while (next_index(index, shape));
  return result;
}

// The axis among `rank` axes that this stands for; negative ones count from the end.
Result<size_t> axis_of(int64_t axis, size_t rank);
// The same of several, ascending; an Error where one is named twice.
Result<std::vector<size_t>> axes_of_list(const Shape& axes, size_t rank);
// `first` .. rank - 1.
std::vector<size_t> axes_from(size_t first, size_t rank);
// The element of a tensor that broadcasts to the shape of `index`, at that index.
inline double element_at(const Values& values, const Shape& index) {
  return values.data[static_cast<size_t>(broadcast_offset(values.shape, index))];
}
// What arithmetic of the type makes of a value in double precision: integers wrap around.
double wrapped(DType dtype, double value);

// A number of type f32; beside an f64 it is one.
inline Expr real(double value) { return literal({DType::f32}, value); }
// Axes of a result of that shape.
std::vector<Axis> axes_with(const Shape& shape);

// Whether arithmetic takes such elements: f32, f64 and integers.
bool is_number(DType dtype);
// An Error unless all types are f32.
Status require_f32(std::span<const TensorType> inputs);
// An Error unless all types are f32, or all f64.
Status require_reals(std::span<const TensorType> inputs);
// An Error that names the operand and what Lathe `supports` there, unless its type is right.
Status require_type(const TensorType& input, size_t operand, bool is_right, const char* supports);
// What sums of products of the first two are: f32 of f32, f64 of f64, i32 of i32 and of integers of 8 bits,
// of either sign. Else an Error.
Result<DType> product_type(std::span<const TensorType> inputs);
// Adds up products of elements: floats in double precision, integers as i32, which wraps around.
class ProductSum {
 public:
  explicit ProductSum(DType factors) : is_float_(is_float(factors)) {}
  void add(double a, double b) {
    if (is_float_)
      real_ += a * b;
    else
      whole_ +=
          static_cast<uint32_t>(static_cast<int64_t>(a)) * static_cast<uint32_t>(static_cast<int64_t>(b));
  }
  double value() const { return is_float_ ? real_ : static_cast<double>(static_cast<int32_t>(whole_)); }

 private:
  bool is_float_;
  double real_ = 0;
  uint32_t whole_ = 0;
};
// An Error unless all types are the same.
Status require_one_type(std::span<const TensorType> inputs);

}  // namespace lathe
