#include "graph/operators/elementwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "expr/integers.h"
#include "graph/graph.h"
#include "graph/onnx/node.h"
#include "graph/onnx/tensor.h"
#include "graph/operators/inverse_functions.h"

namespace lathe {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double clamp(double x, double low, double high) { return minimum(maximum(x, low), high); }
// A bound that is infinite is none.
Expr clamp(Expr x, double low, double high) {
  if (low != -kInfinity) x = max(x, literal(x.type(), low));
  if (high != kInfinity) x = min(x, literal(x.type(), high));
  return x;
}
Expr zero_like(const Expr& x) { return literal(x.type(), 0); }

// What programs compute small powers as, so that they count as cheap, and 1 as what reads nothing.
Expr power(const Expr& x, double exponent) {
  if (exponent == 0) return literal(x.type(), 1);
  if (exponent == 2) return x * x;
  return exponent == 3 ? x * x * x : binary(BinaryOp::pow, x, real(exponent));
}

// 1 / first!, 1 / (first + step)! .. so many: of the series of exponentials.
std::vector<double> reciprocal_factorials(int first, int step, int count) {
  std::vector<double> coefficients;
  for (int i = 0; i < count; ++i) coefficients.push_back(1 / std::tgamma(first + i * step + 1));
  return coefficients;
}

// Polynomials of f32 below are least-maximum-error fits of what stands beside them, those of f64 series.

constexpr double kNearZero = 0.5;  // beyond it e^x - 1 loses no more than two bits
// e^x - 1 for |x| <= 0.5, where the difference would lose its digits: error 5.1e-9 of it, in f64 2e-16.
Expr near_exp_less_1(const Expr& x) {
  // (e^x - 1 - x - x^2 / 2) / x^3
  const Expr rest =
      x.type().dtype == DType::f64
          ? polynomial(reciprocal_factorials(3, 1, 12), x)
          : polynomial({0.166666676, 0.0416658651, 0.00833311117, 0.00139814985, 0.000199839041}, x);
  return (rest * x + real(0.5)) * (x * x) + x;
}
// The same for all x up to 0.
Expr exp_less_1(const Expr& x) { return select(x > real(-kNearZero), near_exp_less_1(x), exp(x) - real(1)); }

// The logarithm of the least normal number of f32: below it 1 / (1 + e^-x) is none, and 0.
constexpr double kLeastSigmoid = -87.336544750553109;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
// With bounds at the operand of exp, which takes half as long then (lower/arithmetic/expand_math.h).
Expr sigmoid(const Expr& x) {
  if (x.type().dtype != DType::f32) return real(1) / (real(1) + exp(-x));
  constexpr double kOne = -86;  // e to that is nothing beside 1
  const Expr power = exp(max(min(-x, real(-kLeastSigmoid)), real(kOne)));
  return select(x < real(kLeastSigmoid), real(0), real(1) / (real(1) + power));
}

double elu(double a, double x) { return x < 0 ? a * std::expm1(x) : x; }
Expr elu(double a, const Expr& x) { return select(x < real(0), exp_less_1(min(x, real(0))) * real(a), x); }

double celu(double a, double x) { return x < 0 ? a * std::expm1(x / a) : x; }
Expr celu(double a, const Expr& x) {
  const Expr ratio = min(x, real(0)) / real(a);
  if (a > 0) return select(x < real(0), exp_less_1(ratio) * real(a), x);
  // Of a ratio above 0 e^ratio, the square of `half`, would overflow before `a` times it does.
  const Expr half = exp(ratio * real(0.5));
  const Expr near = near_exp_less_1(ratio) * real(a);
  return select(x < real(0), select(ratio < real(kNearZero), near, half * real(a) * half - real(a)), x);
}

double soft_plus(double x) { return maximum(x, 0) + std::log1p(std::exp(-std::abs(x))); }
Expr soft_plus(const Expr& x) { return max(x, real(0)) + near_log_1_plus(exp(-abs(x))); }

constexpr double kHalfRoot = 0.70710678118654752;       // sqrt(1/2)
constexpr double kRootOf2OverPi = 0.79788456080286536;  // sqrt(2/pi)
constexpr double kCubicPart = 0.044715;

// e^(|x| / 2): its square, which is e^|x|, would overflow before half of it does.
Expr half_exponential(const Expr& x) { return exp(abs(x) * real(0.5)); }
Expr cosh(const Expr& x) {
  const Expr half = half_exponential(x);
  return half * real(0.5) * half + real(0.5) / half / half;
}
// Near 0 the first terms of its series, where a difference of exponentials would lose their digits.
Expr sinh(const Expr& x) {
  const Expr half = half_exponential(x);
  const Expr far = copy_sign(half * real(0.5) * half - real(0.5) / half / half, x);
  const Expr square = x * x;
  const Expr series = polynomial(reciprocal_factorials(1, 2, x.type().dtype == DType::f64 ? 9 : 5), square);
  return select(abs(x) < real(1), x * series, far);
}

// (1 + tanh(y)) / 2 is 1 / (1 + e^-2y), which loses no digits where tanh is close to -1.
Expr gelu_tanh(const Expr& x) {
  return x / (real(1) + exp(x * real(-2 * kRootOf2OverPi) * (real(1) + x * x * real(kCubicPart))));
}

// tanh(log(1 + e^x)) is n / (n + 2) with n = e^x * (e^x + 2), which is 1 for large x.
Expr mish(const Expr& x) {
  const Expr exponential = exp(min(x, real(20)));
  const Expr n = exponential * (exponential + real(2));
  return x * (n / (n + real(2)));
}

bool is_inf(const MapOp& op, double x) {
  return (op.a != 0 && x == -kInfinity) || (op.b != 0 && x == kInfinity);
}
Expr is_inf(const MapOp& op, const Expr& x) {
  Expr negative = x == real(-kInfinity);
  const Expr positive = x == real(kInfinity);
  if (op.a != 0 && op.b != 0) return negative || positive;
  if (op.a != 0) return negative;
  return op.b != 0 ? positive : positive && negative;
}

// What a function takes: f32, any number, integers, or bool.
enum class Takes : uint8_t { reals, numbers, integers, truths };

struct MapRow {
  MapFunction function;
  const char* name;  // as in ONNX
  Takes takes;
  double (*value)(const MapOp& op, double x);
  Expr (*lower)(const MapOp& op, const Expr& x);
};

using Op = MapOp;

constexpr MapRow kRows[] = {
    {MapFunction::relu, "Relu", Takes::numbers, [](const Op&, double x) { return maximum(x, 0); },
     [](const Op&, const Expr& x) { return max(x, zero_like(x)); }},
    {MapFunction::leaky_relu, "LeakyRelu", Takes::reals,
     [](const Op& op, double x) { return x < 0 ? op.a * x : x; },
     [](const Op& op, const Expr& x) { return select(x < real(0), x * real(op.a), x); }},
    {MapFunction::clip, "Clip", Takes::numbers, [](const Op& op, double x) { return clamp(x, op.a, op.b); },
     [](const Op& op, const Expr& x) { return clamp(x, op.a, op.b); }},
    {MapFunction::sigmoid, "Sigmoid", Takes::reals, [](const Op&, double x) { return sigmoid(x); },
     [](const Op&, const Expr& x) { return sigmoid(x); }},
    {MapFunction::hard_sigmoid, "HardSigmoid", Takes::reals,
     [](const Op& op, double x) { return clamp(op.a * x + op.b, 0, 1); },
     [](const Op& op, const Expr& x) { return clamp(x * real(op.a) + real(op.b), 0, 1); }},
    {MapFunction::hard_swish, "HardSwish", Takes::reals,
     [](const Op&, double x) { return x * clamp(x / 6 + 0.5, 0, 1); },
     [](const Op&, const Expr& x) { return x * clamp(x * real(1.0 / 6) + real(0.5), 0, 1); }},
    {MapFunction::tanh, "Tanh", Takes::reals, [](const Op&, double x) { return std::tanh(x); },
     [](const Op&, const Expr& x) { return tanh(x); }},
    {MapFunction::exp, "Exp", Takes::reals, [](const Op&, double x) { return std::exp(x); },
     [](const Op&, const Expr& x) { return exp(x); }},
    {MapFunction::log, "Log", Takes::reals, [](const Op&, double x) { return std::log(x); },
     [](const Op&, const Expr& x) { return log(x); }},
    {MapFunction::sqrt, "Sqrt", Takes::reals, [](const Op&, double x) { return std::sqrt(x); },
     [](const Op&, const Expr& x) { return sqrt(x); }},
    {MapFunction::erf, "Erf", Takes::reals, [](const Op&, double x) { return std::erf(x); },
     [](const Op&, const Expr& x) { return erf(x); }},
    {MapFunction::abs, "Abs", Takes::numbers, [](const Op&, double x) { return std::abs(x); },
     [](const Op&, const Expr& x) { return abs(x); }},
    {MapFunction::negate, "Neg", Takes::numbers, [](const Op&, double x) { return -x; },
     [](const Op&, const Expr& x) { return -x; }},
    {MapFunction::reciprocal, "Reciprocal", Takes::reals, [](const Op&, double x) { return 1 / x; },
     [](const Op&, const Expr& x) { return real(1) / x; }},
    {MapFunction::elu, "Elu", Takes::reals, [](const Op& op, double x) { return elu(op.a, x); },
     [](const Op& op, const Expr& x) { return elu(op.a, x); }},
    {MapFunction::soft_plus, "Softplus", Takes::reals, [](const Op&, double x) { return soft_plus(x); },
     [](const Op&, const Expr& x) { return soft_plus(x); }},
    {MapFunction::power, "Pow", Takes::reals, [](const Op& op, double x) { return std::pow(x, op.a); },
     [](const Op& op, const Expr& x) { return power(x, op.a); }},
    {MapFunction::sign, "Sign", Takes::numbers,
     [](const Op&, double x) { return x > 0   ? 1
                                      : x < 0 ? -1
                                              : x; },
     [](const Op&, const Expr& x) {
       const Expr negative = select(x < zero_like(x), literal(x.type(), -1), x);
       return select(x > zero_like(x), literal(x.type(), 1), negative);
     }},
    {MapFunction::floor, "Floor", Takes::reals, [](const Op&, double x) { return std::floor(x); },
     [](const Op&, const Expr& x) { return floor(x); }},
    {MapFunction::ceil, "Ceil", Takes::reals, [](const Op&, double x) { return std::ceil(x); },
     [](const Op&, const Expr& x) { return ceil(x); }},
    {MapFunction::round, "Round", Takes::reals, [](const Op&, double x) { return std::nearbyint(x); },
     [](const Op&, const Expr& x) { return round(x); }},
    {MapFunction::sin, "Sin", Takes::reals, [](const Op&, double x) { return std::sin(x); },
     [](const Op&, const Expr& x) { return sin(x); }},
    {MapFunction::cos, "Cos", Takes::reals, [](const Op&, double x) { return std::cos(x); },
     [](const Op&, const Expr& x) { return cos(x); }},
    {MapFunction::tan, "Tan", Takes::reals, [](const Op&, double x) { return std::tan(x); },
     [](const Op&, const Expr& x) { return sin(x) / cos(x); }},
    {MapFunction::sinh, "Sinh", Takes::reals, [](const Op&, double x) { return std::sinh(x); },
     [](const Op&, const Expr& x) { return sinh(x); }},
    {MapFunction::cosh, "Cosh", Takes::reals, [](const Op&, double x) { return std::cosh(x); },
     [](const Op&, const Expr& x) { return cosh(x); }},
    {MapFunction::asin, "Asin", Takes::reals, [](const Op&, double x) { return std::asin(x); },
     [](const Op&, const Expr& x) { return asin(x); }},
    {MapFunction::acos, "Acos", Takes::reals, [](const Op&, double x) { return std::acos(x); },
     [](const Op&, const Expr& x) { return acos(x); }},
    {MapFunction::atan, "Atan", Takes::reals, [](const Op&, double x) { return std::atan(x); },
     [](const Op&, const Expr& x) { return atan(x); }},
    {MapFunction::asinh, "Asinh", Takes::reals, [](const Op&, double x) { return std::asinh(x); },
     [](const Op&, const Expr& x) { return asinh(x); }},
    {MapFunction::acosh, "Acosh", Takes::reals, [](const Op&, double x) { return std::acosh(x); },
     [](const Op&, const Expr& x) { return acosh(x); }},
    {MapFunction::atanh, "Atanh", Takes::reals, [](const Op&, double x) { return std::atanh(x); },
     [](const Op&, const Expr& x) { return atanh(x); }},
    {MapFunction::swish, "Swish", Takes::reals,
     [](const Op& op, double x) { return x / (1 + std::exp(-op.a * x)); },
     [](const Op& op, const Expr& x) { return x / (real(1) + exp(x * real(-op.a))); }},
    {MapFunction::gelu, "Gelu", Takes::reals,
     [](const Op&, double x) { return x * 0.5 * (1 + std::erf(x * kHalfRoot)); },
     [](const Op&, const Expr& x) { return x * real(0.5) * (real(1) + erf(x * real(kHalfRoot))); }},
    {MapFunction::gelu_tanh, "Gelu", Takes::reals,
     [](const Op&, double x) {
       return x * 0.5 * (1 + std::tanh(kRootOf2OverPi * x * (1 + kCubicPart * x * x)));
     },
     [](const Op&, const Expr& x) { return gelu_tanh(x); }},
    {MapFunction::mish, "Mish", Takes::reals, [](const Op&, double x) { return x * std::tanh(soft_plus(x)); },
     [](const Op&, const Expr& x) { return mish(x); }},
    {MapFunction::celu, "Celu", Takes::reals, [](const Op& op, double x) { return celu(op.a, x); },
     [](const Op& op, const Expr& x) { return celu(op.a, x); }},
    {MapFunction::selu, "Selu", Takes::reals, [](const Op& op, double x) { return op.b * elu(op.a, x); },
     [](const Op& op, const Expr& x) { return elu(op.a, x) * real(op.b); }},
    {MapFunction::thresholded_relu, "ThresholdedRelu", Takes::reals,
     [](const Op& op, double x) { return x > op.a ? x : 0.0; },
     [](const Op& op, const Expr& x) { return select(x > real(op.a), x, real(0)); }},
    {MapFunction::soft_sign, "Softsign", Takes::reals,
     [](const Op&, double x) { return x / (1 + std::abs(x)); },
     [](const Op&, const Expr& x) { return x / (real(1) + abs(x)); }},
    {MapFunction::shrink, "Shrink", Takes::reals,
     [](const Op& op, double x) { return x < -op.a  ? x + op.b
                                         : x > op.a ? x - op.b
                                                    : 0.0; },
     [](const Op& op, const Expr& x) {
       const Expr above = select(x > real(op.a), x - real(op.b), real(0));
       return select(x < real(-op.a), x + real(op.b), above);
     }},
    {MapFunction::logical_not, "Not", Takes::truths, [](const Op&, double x) { return x == 0 ? 1.0 : 0.0; },
     [](const Op&, const Expr& x) { return unary(UnaryOp::logical_not, x); }},
    {MapFunction::bit_not, "BitwiseNot", Takes::integers, [](const Op&, double x) { return -1 - x; },
     [](const Op&, const Expr& x) { return binary(BinaryOp::bit_xor, x, integer_literal(x.type(), -1)); }},
    {MapFunction::is_nan, "IsNaN", Takes::reals,
     [](const Op&, double x) { return std::isnan(x) ? 1.0 : 0.0; },
     // NOLINTNEXTLINE(misc-redundant-expression): a NaN alone is not equal to itself
     [](const Op&, const Expr& x) { return x != x; }},
    {MapFunction::is_inf, "IsInf", Takes::reals,
     [](const Op& op, double x) { return is_inf(op, x) ? 1.0 : 0.0; },
     [](const Op& op, const Expr& x) { return is_inf(op, x); }},
};

const MapRow& row_of(MapFunction function) {
  const auto row = std::ranges::find(kRows, function, &MapRow::function);
  LATHE_CHECK(row != std::end(kRows));
  return *row;
}

bool is_condition(MapFunction function) {
  return function == MapFunction::is_nan || function == MapFunction::is_inf;
}

double cast_value(DType from, DType to, double x) {
  if (is_float(to)) return x;
  return is_float(from) ? number_kept(to, saturated(to, x)) : wrapped(to, x);
}

}  // namespace

const char* MapOp::name() const { return row_of(function).name; }

std::string attributes_of(const MapOp& op) {
  switch (op.function) {
    case MapFunction::elu:
    case MapFunction::celu:
    case MapFunction::thresholded_relu:
    case MapFunction::swish:
    case MapFunction::leaky_relu: return fmt::format("alpha {}", op.a);
    case MapFunction::selu: return fmt::format("alpha {}, gamma {}", op.a, op.b);
    case MapFunction::shrink: return fmt::format("lambda {}, bias {}", op.a, op.b);
    case MapFunction::gelu_tanh: return "by tanh";
    case MapFunction::power: return fmt::format("exponent {}", op.a);
    case MapFunction::clip: return fmt::format("min {}, max {}", op.a, op.b);
    case MapFunction::hard_sigmoid: return fmt::format("alpha {}, beta {}", op.a, op.b);
    case MapFunction::is_inf: return fmt::format("negative {}, positive {}", op.a, op.b);
    default: return {};
  }
}

std::string attributes_of(const BitCastOp& op) { return to_string(op.to); }
std::string attributes_of(const CastOp& op) { return to_string(op.to); }

Result<TensorType> infer(const MapOp& op, std::span<const TensorType> inputs) {
  const DType dtype = inputs[0].dtype;
  switch (row_of(op.function).takes) {
    case Takes::reals: LATHE_TRY_STATUS(require_reals(inputs)); break;
    case Takes::numbers:
      LATHE_TRY_STATUS(require_type(inputs[0], 0, is_number(dtype), "f32, f64 and integers"));
      break;
    case Takes::integers: LATHE_TRY_STATUS(require_type(inputs[0], 0, is_integer(dtype), "integers")); break;
    case Takes::truths: LATHE_TRY_STATUS(require_type(inputs[0], 0, dtype == DType::boolean, "bool")); break;
  }
  return TensorType{is_condition(op.function) ? DType::boolean : dtype, inputs[0].shape};
}

Result<TensorType> infer(const CastOp& op, std::span<const TensorType> inputs) {
  return TensorType{op.to, inputs[0].shape};
}

Result<TensorType> infer(const BitCastOp& op, std::span<const TensorType> inputs) {
  if (bytes_of(op.from) == bytes_of(op.to)) return TensorType{op.to, inputs[0].shape};
  return fail(ErrorKind::invalid_argument,
              fmt::format("it takes the bits of {} for {}, and must take those of a type of as many",
                          to_string(op.from), to_string(op.to)));
}

Values evaluate(const MapOp& op, std::span<const Values> inputs) {
  const MapRow& row = row_of(op.function);
  Values result = inputs[0];
  for (double& value : result.data) value = wrapped(inputs[0].dtype, row.value(op, value));
  return result;
}

Values evaluate(const CastOp& op, std::span<const Values> inputs) {
  Values result = inputs[0];
  for (double& value : result.data) value = cast_value(inputs[0].dtype, op.to, value);
  // To 16 bits models cast for the rounding.
  if (info_of(op.to).computed_in != op.to)
    for (double& value : result.data) value = as_stored(op.to, value);
  return result;
}

Values evaluate(const BitCastOp& op, std::span<const Values> inputs) {
  const Shape& shape = inputs[0].shape;
  Values result{shape, values_of(GraphTensor{{}, {op.to, shape}, to_bytes(op.from, inputs[0].data)}), op.to};
  if (op.to == DType::boolean)
    for (double& truth : result.data) truth = truth != 0 ? 1 : 0;
  return result;
}

Expr lower(const BitCastOp& op, const PointOperands& point) {
  const Expr& x = point.at(0);
  if (op.from == op.to) return x;
  if (op.to == DType::boolean) return x != zero_like(x);
  return op.from == DType::boolean ? cast({op.to}, x) : bit_cast({op.to}, cast({op.from}, x));
}

// What is no condition becomes one by a comparison only.
Expr lower(const CastOp& op, const PointOperands& point) {
  const Expr& x = point.at(0);
  if (op.to == DType::boolean && x.type().dtype != DType::boolean) return x != zero_like(x);
  return cast({op.to}, x);
}

Expr lower(const MapOp& op, const PointOperands& point) { return row_of(op.function).lower(op, point.at(0)); }

Result<MapOp> import_leaky_relu(OnnxNode& node) {
  return MapOp{MapFunction::leaky_relu, node.real("alpha", 0.01)};
}

Result<MapOp> import_hard_sigmoid(OnnxNode& node) {
  return MapOp{MapFunction::hard_sigmoid, node.real("alpha", 0.2), node.real("beta", 0.5)};
}

Result<MapOp> import_elu(OnnxNode& node) { return MapOp{MapFunction::elu, node.real("alpha", 1)}; }

Result<MapOp> import_celu(OnnxNode& node) {
  const double alpha = node.real("alpha", 1);
  if (alpha != 0) return MapOp{MapFunction::celu, alpha};
  return fail(ErrorKind::invalid_argument, "attribute 'alpha' is 0, which it divides by");
}

Result<MapOp> import_selu(OnnxNode& node) {
  return MapOp{MapFunction::selu, node.real("alpha", kSeluAlpha), node.real("gamma", kSeluGamma)};
}

Result<MapOp> import_thresholded_relu(OnnxNode& node) {
  return MapOp{MapFunction::thresholded_relu, node.real("alpha", 1)};
}

Result<MapOp> import_shrink(OnnxNode& node) {
  return MapOp{MapFunction::shrink, node.real("lambd", 0.5), node.real("bias", 0)};
}

Result<MapOp> import_gelu(OnnxNode& node) {
  const std::string approximate = node.text("approximate", "none");
  if (approximate == "none") return MapOp{MapFunction::gelu};
  if (approximate == "tanh") return MapOp{MapFunction::gelu_tanh};
  return fail(ErrorKind::invalid_argument,
              fmt::format("attribute 'approximate' is '{}', and must be none or tanh", approximate));
}

Result<MapOp> import_swish(OnnxNode& node) { return MapOp{MapFunction::swish, node.real("alpha", 1)}; }

Result<MapOp> import_is_inf(OnnxNode& node) {
  return MapOp{MapFunction::is_inf, static_cast<double>(node.integer("detect_negative", 1)),
               static_cast<double>(node.integer("detect_positive", 1))};
}

Result<CastOp> import_cast(OnnxNode& node) {
  CastOp op;
  LATHE_TRY(op.to, dtype_of_onnx(node.integer("to", 0), "attribute 'to'"));
  return op;
}

Result<BitCastOp> import_bit_cast(OnnxNode& node) {
  BitCastOp op{node.declared(0)};
  LATHE_TRY(op.to, dtype_of_onnx(node.integer("to", 0), "attribute 'to'"));
  return op;
}

Result<MapOp> import_clip(OnnxNode& node) {
  MapOp op{MapFunction::clip, node.real("min", -kInfinity), node.real("max", kInfinity)};
  LATHE_TRY(op.a, node.constant_real(1, op.a));
  LATHE_TRY(op.b, node.constant_real(2, op.b));
  return op;
}

}  // namespace lathe
