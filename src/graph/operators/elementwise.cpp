#include "graph/operators/elementwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/onnx_node.h"
#include "graph/onnx_tensor.h"
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
    case MapFunction::elu: return x < 0 ? op.a * std::expm1(x) : x;
    case MapFunction::soft_plus: return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    case MapFunction::power: return std::pow(x, op.a);
  }
  return x;
}

double value_of(ZipFunction function, double x, double y) {
  switch (function) {
    case ZipFunction::add: return x + y;
    case ZipFunction::sub: return x - y;
    case ZipFunction::mul: return x * y;
    case ZipFunction::div: return x / y;
    case ZipFunction::quotient: return std::trunc(x / y);
    case ZipFunction::max: return std::max(x, y);
    case ZipFunction::min: return std::min(x, y);
    case ZipFunction::p_relu: return x < 0 ? x * y : x;
  }
  return x;
}

// x to a constant power. Whole exponents up to 64 take products; logarithms are for positive x alone.
Expr power(const Expr& x, double exponent) {
  if (exponent < 0) return real(1) / power(x, -exponent);
  if (exponent == 0.5) return sqrt(x);
  if (exponent != std::floor(exponent)) return exp(log(x) * real(exponent));
  if (exponent > 64) {
    const Expr magnitude = exp(log(abs(x)) * real(exponent));
    return std::fmod(exponent, 2) == 0 ? magnitude : select(x < real(0), -magnitude, magnitude);
  }
  Expr result;
  Expr square = x;
  for (auto rest = static_cast<int>(exponent); rest > 0; rest /= 2, square = square * square) {
    if (rest % 2 == 1) result = result.defined() ? result * square : square;
  }
  return result.defined() ? result : real(1);
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
    case MapFunction::elu: return "Elu";
    case MapFunction::soft_plus: return "Softplus";
    case MapFunction::power: return "Pow";
  }
  return "";
}

const char* ZipOp::name() const {
  switch (function) {
    case ZipFunction::add: return "Add";
    case ZipFunction::sub: return "Sub";
    case ZipFunction::mul: return "Mul";
    case ZipFunction::div:
    case ZipFunction::quotient: return "Div";
    case ZipFunction::max: return "Max";
    case ZipFunction::min: return "Min";
    case ZipFunction::p_relu: return "PRelu";
  }
  return "";
}

std::string attributes_of(const MapOp& op) {
  switch (op.function) {
    case MapFunction::elu:
    case MapFunction::leaky_relu: return fmt::format("alpha {}", op.a);
    case MapFunction::power: return fmt::format("exponent {}", op.a);
    case MapFunction::clip: return fmt::format("min {}, max {}", op.a, op.b);
    case MapFunction::hard_sigmoid: return fmt::format("alpha {}, beta {}", op.a, op.b);
    default: return {};
  }
}

std::string attributes_of(const ZipOp&) { return {}; }

std::string attributes_of(const CastOp& op) { return to_string(op.to); }

Result<TensorType> infer(const MapOp&, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_f32(inputs));
  return inputs[0];
}

Result<TensorType> infer(const ZipOp&, std::span<const TensorType> inputs) {
  const DType dtype = inputs[0].dtype;
  const bool whole = dtype == DType::i64 || dtype == DType::i32;
  if (!whole || inputs[1].dtype != dtype) LATHE_TRY_STATUS(require_f32(inputs));
  LATHE_TRY(Shape shape, broadcast_shapes(inputs[0].shape, inputs[1].shape));
  return TensorType{dtype, std::move(shape)};
}

Result<TensorType> infer(const CastOp& op, std::span<const TensorType> inputs) {
  return TensorType{op.to, inputs[0].shape};
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

Values evaluate(const CastOp& op, std::span<const Values> inputs) {
  Values result = inputs[0];
  if (op.to == DType::boolean) {
    for (double& x : result.data) x = x != 0 ? 1 : 0;
  } else if (!is_float(op.to)) {
    for (double& x : result.data) x = std::trunc(x);
  }
  return result;
}

Expr lower(const CastOp& op, const PointOperands& point) { return cast({op.to}, point.at(0)); }

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
    case MapFunction::elu: return select(x < real(0), (exp(min(x, real(0))) - real(1)) * real(op.a), x);
    case MapFunction::soft_plus: return max(x, real(0)) + log(real(1) + exp(-abs(x)));
    case MapFunction::power: return power(x, op.a);
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
    case ZipFunction::div:
    case ZipFunction::quotient: return x / y;
    case ZipFunction::max: return max(x, y);
    case ZipFunction::min: return min(x, y);
    case ZipFunction::p_relu: return select(x < real(0), x * y, x);
  }
  return x;
}

Result<MapOp> import_leaky_relu(OnnxNode& node) {
  return MapOp{MapFunction::leaky_relu, node.real("alpha", 0.01)};
}

Result<MapOp> import_hard_sigmoid(OnnxNode& node) {
  return MapOp{MapFunction::hard_sigmoid, node.real("alpha", 0.2), node.real("beta", 0.5)};
}

Result<MapOp> import_elu(OnnxNode& node) { return MapOp{MapFunction::elu, node.real("alpha", 1)}; }

Result<MapOp> import_pow(OnnxNode& node) {
  if (node.shape(1).size() > node.shape(0).size()) {
    return fail(ErrorKind::unsupported, fmt::format("its exponent {} has more axes than its base {}",
                                                    to_string(node.shape(1)), to_string(node.shape(0))));
  }
  if (node.type(1).dtype == DType::f32) {
    LATHE_TRY(const double exponent, node.constant_real(1, 1));
    return MapOp{MapFunction::power, exponent};
  }
  LATHE_TRY(const Shape exponents, node.constant_integers(1));
  if (exponents.size() == 1) return MapOp{MapFunction::power, static_cast<double>(exponents[0])};
  return fail(ErrorKind::unsupported,
              fmt::format("it has {} exponents, and Lathe supports one", exponents.size()));
}

Result<CastOp> import_cast(OnnxNode& node) {
  CastOp op;
  LATHE_TRY(op.to, dtype_of_onnx(node.integer("to", 0), "attribute 'to'"));
  return op;
}

Result<ZipOp> import_div(OnnxNode& node) {
  if (node.type(0).dtype == DType::f32 || !node.is_constant(1)) return ZipOp{ZipFunction::div};
  LATHE_TRY(const Shape divisors, node.constant_integers(1));
  if (std::ranges::find(divisors, 0) == divisors.end()) return ZipOp{ZipFunction::quotient};
  return fail(ErrorKind::invalid_argument, "it divides integers by 0");
}

Result<MapOp> import_clip(OnnxNode& node) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  MapOp op{MapFunction::clip, node.real("min", -kLargest), node.real("max", kLargest)};
  LATHE_TRY(op.a, node.constant_real(1, op.a));
  LATHE_TRY(op.b, node.constant_real(2, op.b));
  return op;
}

}  // namespace lathe
