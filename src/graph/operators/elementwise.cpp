#include "graph/operators/elementwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/onnx_node.h"
#include "ops/elementwise.h"

namespace lathe {
namespace {

double clamp(double x, double low, double high) { return std::min(std::max(x, low), high); }
Expr real(double value) { return literal({DType::f32}, value); }
Expr clamp(const Expr& x, double low, double high) { return min(max(x, real(low)), real(high)); }

double value_of(const MapOp& op, double x) {
  switch (op.function) {
    case MapFunction::relu: return std::max(x, 0.0);
    case MapFunction::leaky_relu: return x < 0 ? op.a * x : x;
    case MapFunction::clip: return clamp(x, op.a, op.b);
    case MapFunction::sigmoid: return 1 / (1 + std::exp(-x));
    case MapFunction::hard_sigmoid: return clamp(op.a * x + op.b, 0, 1);
    case MapFunction::hard_swish: return x * clamp(x / 6 + 0.5, 0, 1);
    case MapFunction::tanh: return std::tanh(x);
    case MapFunction::exp: return std::exp(x);
    case MapFunction::log: return std::log(x);
    case MapFunction::sqrt: return std::sqrt(x);
    case MapFunction::erf: return std::erf(x);
    case MapFunction::abs: return std::abs(x);
    case MapFunction::negate: return -x;
    case MapFunction::reciprocal: return 1 / x;
  }
  return x;
}

double value_of(ZipFunction function, double x, double y) {
  switch (function) {
    case ZipFunction::add: return x + y;
    case ZipFunction::sub: return x - y;
    case ZipFunction::mul: return x * y;
    case ZipFunction::div: return x / y;
    case ZipFunction::max: return std::max(x, y);
    case ZipFunction::min: return std::min(x, y);
  }
  return x;
}

}  // namespace

const char* MapOp::name() const {
  switch (function) {
    case MapFunction::relu: return "Relu";
    case MapFunction::leaky_relu: return "LeakyRelu";
    case MapFunction::clip: return "Clip";
    case MapFunction::sigmoid: return "Sigmoid";
    case MapFunction::hard_sigmoid: return "HardSigmoid";
    case MapFunction::hard_swish: return "HardSwish";
    case MapFunction::tanh: return "Tanh";
    case MapFunction::exp: return "Exp";
    case MapFunction::log: return "Log";
    case MapFunction::sqrt: return "Sqrt";
    case MapFunction::erf: return "Erf";
    case MapFunction::abs: return "Abs";
    case MapFunction::negate: return "Neg";
    case MapFunction::reciprocal: return "Reciprocal";
  }
  return "";
}

const char* ZipOp::name() const {
  switch (function) {
    case ZipFunction::add: return "Add";
    case ZipFunction::sub: return "Sub";
    case ZipFunction::mul: return "Mul";
    case ZipFunction::div: return "Div";
    case ZipFunction::max: return "Max";
    case ZipFunction::min: return "Min";
  }
  return "";
}

std::string attributes_of(const MapOp& op) {
  switch (op.function) {
    case MapFunction::leaky_relu: return fmt::format("alpha {}", op.a);
    case MapFunction::clip: return fmt::format("min {}, max {}", op.a, op.b);
    case MapFunction::hard_sigmoid: return fmt::format("alpha {}, beta {}", op.a, op.b);
    default: return {};
  }
}

std::string attributes_of(const ZipOp&) { return {}; }

Result<TensorType> infer(const MapOp&, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_f32(inputs));
  return inputs[0];
}

Result<TensorType> infer(const ZipOp&, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_f32(inputs));
  LATHE_TRY(Shape shape, broadcast_shapes(inputs[0].shape, inputs[1].shape));
  return TensorType{DType::f32, std::move(shape)};
}

Values evaluate(const MapOp& op, std::span<const Values> inputs) {
  Values result = inputs[0];
  for (double& value : result.data) value = value_of(op, value);
  return result;
}

Values evaluate(const ZipOp& op, std::span<const Values> inputs) {
  Values result{*broadcast_shapes(inputs[0].shape, inputs[1].shape), {}};
  Shape at(result.shape.size(), 0);
  do {
    result.data.push_back(
        value_of(op.function, inputs[0].data[static_cast<size_t>(broadcast_offset(inputs[0].shape, at))],
                 inputs[1].data[static_cast<size_t>(broadcast_offset(inputs[1].shape, at))]));
  } while (next_index(at, result.shape));
  return result;
}

Expr lower(const MapOp& op, const PointOperands& point) {
  Expr x = point.at(0);
  switch (op.function) {
    case MapFunction::relu: return relu(x);
    case MapFunction::leaky_relu: return select(x < real(0), x * real(op.a), x);
    case MapFunction::clip: return clamp(x, op.a, op.b);
    case MapFunction::sigmoid: return real(1) / (real(1) + exp(-x));
    case MapFunction::hard_sigmoid: return clamp(x * real(op.a) + real(op.b), 0, 1);
    case MapFunction::hard_swish: return x * clamp(x * real(1.0 / 6) + real(0.5), 0, 1);
    case MapFunction::tanh: return tanh(x);
    case MapFunction::exp: return exp(x);
    case MapFunction::log: return log(x);
    case MapFunction::sqrt: return sqrt(x);
    case MapFunction::erf: return erf(x);
    case MapFunction::abs: return abs(x);
    case MapFunction::negate: return -x;
    case MapFunction::reciprocal: return real(1) / x;
  }
  return x;
}

Expr lower(const ZipOp& op, const PointOperands& point) {
  Expr x = point.at(0);
  const Expr y = point.at(1);
  switch (op.function) {
    case ZipFunction::add: return x + y;
    case ZipFunction::sub: return x - y;
    case ZipFunction::mul: return x * y;
    case ZipFunction::div: return x / y;
    case ZipFunction::max: return max(x, y);
    case ZipFunction::min: return min(x, y);
  }
  return x;
}

Result<MapOp> import_leaky_relu(OnnxNode& node) {
  return MapOp{MapFunction::leaky_relu, node.real("alpha", 0.01)};
}

Result<MapOp> import_hard_sigmoid(OnnxNode& node) {
  return MapOp{MapFunction::hard_sigmoid, node.real("alpha", 0.2), node.real("beta", 0.5)};
}

Result<MapOp> import_clip(OnnxNode& node) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  MapOp op{MapFunction::clip, node.real("min", -kLargest), node.real("max", kLargest)};
  LATHE_TRY(op.a, node.constant_real(1, op.a));
  LATHE_TRY(op.b, node.constant_real(2, op.b));
  return op;
}

}  // namespace lathe
