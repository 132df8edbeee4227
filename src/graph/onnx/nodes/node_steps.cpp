#include "graph/onnx/nodes/node_steps.h"

namespace lathe {

size_t NodeSteps::counted(const Shape& shape, int64_t step) {
  Shape values(static_cast<size_t>(elements_of(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i) * step;
  return integers(shape, values);
}

size_t NodeSteps::reduce(ReduceFunction function, size_t x, std::vector<size_t> axes, bool keeps_axes) {
  ReduceOp op;
  op.function = function;
  op.axes = std::move(axes);
  op.keeps_axes = keeps_axes;
  return add(op, {x});
}

size_t NodeSteps::transpose(size_t x, const std::vector<size_t>& order) {
  for (size_t d = 0; d < order.size(); ++d)
    if (order[d] != d) return add(TransposeOp{order}, {x});
  return x;
}

size_t NodeSteps::part(size_t x, const Shape& shape, size_t axis, int64_t first, int64_t count,
                       int64_t step) {
  SliceOp op{Shape(shape.size(), 0), Shape(shape.size(), 1), shape};
  op.starts[axis] = first;
  op.steps[axis] = step;
  op.extents[axis] = count;
  return add(op, {x});
}

void NodeSteps::give(size_t x) {
  if (x != last_) add(IdentityOp{}, {x});
  last_ = SIZE_MAX;
  outputs_.emplace_back(steps_.finish());
}

int64_t elements_between(const Shape& shape, size_t first, size_t last) {
  int64_t elements = 1;
  for (size_t d = first; d < last; ++d) elements *= shape[d];
  return elements;
}

}  // namespace lathe
