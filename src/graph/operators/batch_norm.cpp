#include "graph/operators/batch_norm.h"

#include <fmt/format.h>

#include <cmath>

#include "graph/onnx/node.h"

namespace lathe {

std::string attributes_of(const BatchNormOp& op) { return fmt::format("epsilon {}", op.epsilon); }

Result<TensorType> infer(const BatchNormOp&, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_reals(inputs));
  const Shape& data = inputs[0].shape;
  if (data.size() < 2) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("input 0 has shape {}, and must be [N, C, ...]", to_string(data)));
  }
  for (size_t i = 1; i < inputs.size(); ++i) {
    if (inputs[i].shape != Shape{data[1]}) {
      return fail(ErrorKind::invalid_argument, fmt::format("input {} has shape {}, and must be [{}]", i,
                                                           to_string(inputs[i].shape), data[1]));
    }
  }
  return inputs[0];
}

Values evaluate(const BatchNormOp& op, std::span<const Values> inputs) {
  Values result = inputs[0];
  const auto channels = static_cast<size_t>(result.shape[1]);
  const size_t plane = result.data.size() / static_cast<size_t>(result.shape[0]) / channels;
  for (size_t i = 0; i < result.data.size(); ++i) {
    const size_t c = i / plane % channels;
    const double scale = inputs[1].data[c] / std::sqrt(inputs[4].data[c] + op.epsilon);
    result.data[i] = (result.data[i] - inputs[3].data[c]) * scale + inputs[2].data[c];
  }
  return result;
}

Expr lower(const BatchNormOp& op, const PointOperands& point) {
  const Expr scale = point.at_channel(1) / sqrt(point.at_channel(4) + Expr(op.epsilon));
  return (point.at(0) - point.at_channel(3)) * scale + point.at_channel(2);
}

Result<BatchNormOp> import_batch_norm(OnnxNode& node) {
  LATHE_TRY_STATUS(require_attribute("spatial", static_cast<double>(node.integer("spatial", 1)), 1));
  BatchNormOp op;
  op.epsilon = node.real("epsilon", 1e-5);
  return op;
}

}  // namespace lathe
