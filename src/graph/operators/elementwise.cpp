#include "graph/operators/elementwise.h"

#include <algorithm>

#include "graph/onnx_node.h"
#include "ops/elementwise.h"

namespace lathe {

std::string attributes_of(const ReluOp&) { return {}; }
std::string attributes_of(const AddOp&) { return {}; }

Result<TensorType> infer(const ReluOp&, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_f32(inputs));
  return inputs[0];
}

Result<TensorType> infer(const AddOp&, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_f32(inputs));
  LATHE_TRY(Shape shape, broadcast_shapes(inputs[0].shape, inputs[1].shape));
  return TensorType{DType::f32, std::move(shape)};
}

Values evaluate(const ReluOp&, std::span<const Values> inputs) {
  Values result = inputs[0];
  for (double& value : result.data) value = std::max(value, 0.0);
  return result;
}

Values evaluate(const AddOp&, std::span<const Values> inputs) {
  Values result{*broadcast_shapes(inputs[0].shape, inputs[1].shape), {}};
  Shape at(result.shape.size(), 0);
  do {
    result.data.push_back(inputs[0].data[static_cast<size_t>(broadcast_offset(inputs[0].shape, at))] +
                          inputs[1].data[static_cast<size_t>(broadcast_offset(inputs[1].shape, at))]);
  } while (next_index(at, result.shape));
  return result;
}

Expr lower(const ReluOp&, const PointOperands& point) { return relu(point.at(0)); }

Expr lower(const AddOp&, const PointOperands& point) { return point.at(0) + point.at(1); }

Result<ReluOp> import_relu(OnnxNode&) { return ReluOp{}; }

Result<AddOp> import_add(OnnxNode&) { return AddOp{}; }

}  // namespace lathe
