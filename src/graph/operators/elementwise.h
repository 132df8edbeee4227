// Operators that give each element from the operand's element at the same place: they join the group of what
// produces it.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

enum class MapFunction : uint8_t {
  relu,
  leaky_relu,    // x < 0 ? a * x : x
  clip,          // between a and b
  sigmoid,       // 1 / (1 + e^-x)
  hard_sigmoid,  // a * x + b between 0 and 1
  hard_swish,    // x * (x / 6 + 1/2 between 0 and 1)
  tanh,
  exp,
  log,
  sqrt,
  erf,
  abs,
  negate,
  reciprocal,
  elu,        // x < 0 ? a * (e^x - 1) : x
  soft_plus,  // log(1 + e^x)
  power,      // x to the power of a
  sign,       // -1, 0 or 1
  floor,
  ceil,
  round,  // halves to the even one
  sin,
  cos,
  tan,
  sinh,
  cosh,
  asin,
  acos,
  atan,
  asinh,
  acosh,
  atanh,
  swish,             // x / (1 + e^-ax)
  gelu,              // x * (1 + erf(x / sqrt(2))) / 2
  gelu_tanh,         // the same by tanh
  mish,              // x * tanh(log(1 + e^x))
  celu,              // x < 0 ? a * (e^(x / a) - 1) : x
  selu,              // b * (x < 0 ? a * (e^x - 1) : x)
  thresholded_relu,  // x > a ? x : 0
  soft_sign,         // x / (1 + |x|)
  shrink,            // x < -a ? x + b : x > a ? x - b : 0
  logical_not,
  bit_not,  // of integers
  is_nan,
  is_inf,  // -infinity where a is not 0, infinity where b is not
};

// What ONNX takes where a Selu does not say.
inline constexpr double kSeluAlpha = 1.67326319217681884765625;
inline constexpr double kSeluGamma = 1.05070102214813232421875;

// A function of one operand. Integers wrap around.
struct MapOp {
  static constexpr FusionRole kRole = FusionRole::elementwise;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  MapFunction function = MapFunction::relu;
  double a = 0;  // the function's parameters; 0 where it has none
  double b = 0;

  const char* name() const;  // as in ONNX
  bool operator==(const MapOp&) const = default;
};

// Another element type. Of a number with a fraction integers take what is left when it is cut off, or the
// nearest that they hold, and 0 for what is no number; of a wider integer its lowest bits. `bool` is whether
// it is not 0.
struct CastOp {
  static constexpr const char* kName = "Cast";
  static constexpr FusionRole kRole = FusionRole::elementwise;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  DType to = DType::f32;

  bool operator==(const CastOp&) const = default;
};

// The bits of each element as those of another type of as many; a truth is the byte 0 or 1, and any other
// byte than 0 true. An operand that is held in a wider type is rounded to its own first.
struct BitCastOp {
  static constexpr const char* kName = "BitCast";
  static constexpr FusionRole kRole = FusionRole::elementwise;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  DType from = DType::f32;
  DType to = DType::i32;

  bool operator==(const BitCastOp&) const = default;
};

std::string attributes_of(const MapOp& op);
std::string attributes_of(const CastOp& op);
std::string attributes_of(const BitCastOp& op);
Result<TensorType> infer(const MapOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const CastOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const BitCastOp& op, std::span<const TensorType> inputs);
Values evaluate(const MapOp& op, std::span<const Values> inputs);
Values evaluate(const CastOp& op, std::span<const Values> inputs);
Values evaluate(const BitCastOp& op, std::span<const Values> inputs);
Expr lower(const MapOp& op, const PointOperands& point);
Expr lower(const CastOp& op, const PointOperands& point);
Expr lower(const BitCastOp& op, const PointOperands& point);

// ONNX LeakyRelu, HardSigmoid, Elu, Celu, Selu, Swish, ThresholdedRelu, Shrink, Gelu, Clip (its bounds
// attributes before operator set 11, then constant inputs), IsInf, Cast, BitCast.
Result<MapOp> import_leaky_relu(OnnxNode& node);
Result<MapOp> import_hard_sigmoid(OnnxNode& node);
Result<MapOp> import_clip(OnnxNode& node);
Result<MapOp> import_elu(OnnxNode& node);
Result<MapOp> import_celu(OnnxNode& node);
Result<MapOp> import_selu(OnnxNode& node);
Result<MapOp> import_thresholded_relu(OnnxNode& node);
Result<MapOp> import_shrink(OnnxNode& node);
Result<MapOp> import_gelu(OnnxNode& node);
Result<MapOp> import_swish(OnnxNode& node);
Result<MapOp> import_is_inf(OnnxNode& node);
Result<CastOp> import_cast(OnnxNode& node);
Result<BitCastOp> import_bit_cast(OnnxNode& node);
// The ONNX operators without attributes: Relu, Sigmoid, HardSwish, Tanh, Exp ...
template <MapFunction function>
Result<MapOp> import_map(OnnxNode&) {
  return MapOp{function};
}

}  // namespace lathe
