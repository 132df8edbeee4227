// Operators that give each element from the elements at the same place: they join the group of what produces
// their operand. Binary ones broadcast as NumPy does.
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
};

// A function of one operand.
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

// quotient: x / y of integers, cut off towards zero; p_relu: x < 0 ? x * y : x
enum class ZipFunction : uint8_t { add, sub, mul, div, quotient, max, min, p_relu };

// A function of two operands, of f32 or of integers (which ONNX computes shapes with).
struct ZipOp {
  static constexpr FusionRole kRole = FusionRole::elementwise;
  static constexpr size_t kLeastOperands = 2;
  static constexpr size_t kMostOperands = 2;

  ZipFunction function = ZipFunction::add;

  const char* name() const;  // as in ONNX
  bool operator==(const ZipOp&) const = default;
};

// Another element type; numbers that it cannot hold are cut off towards zero.
struct CastOp {
  static constexpr const char* kName = "Cast";
  static constexpr FusionRole kRole = FusionRole::elementwise;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  DType to = DType::f32;

  bool operator==(const CastOp&) const = default;
};

std::string attributes_of(const MapOp& op);
std::string attributes_of(const ZipOp& op);
std::string attributes_of(const CastOp& op);
Result<TensorType> infer(const MapOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const ZipOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const CastOp& op, std::span<const TensorType> inputs);
Values evaluate(const MapOp& op, std::span<const Values> inputs);
Values evaluate(const ZipOp& op, std::span<const Values> inputs);
Values evaluate(const CastOp& op, std::span<const Values> inputs);
Expr lower(const MapOp& op, const PointOperands& point);
Expr lower(const ZipOp& op, const PointOperands& point);
Expr lower(const CastOp& op, const PointOperands& point);

// ONNX LeakyRelu, HardSigmoid, Elu, Clip (its bounds attributes before operator set 11, then constant
// inputs), Pow with a constant exponent, Cast.
Result<MapOp> import_leaky_relu(OnnxNode& node);
Result<MapOp> import_hard_sigmoid(OnnxNode& node);
Result<MapOp> import_clip(OnnxNode& node);
Result<MapOp> import_elu(OnnxNode& node);
Result<MapOp> import_pow(OnnxNode& node);
Result<CastOp> import_cast(OnnxNode& node);
// ONNX Div, of f32 or of integers.
Result<ZipOp> import_div(OnnxNode& node);
// The ONNX operators without attributes: Relu, Sigmoid, HardSwish, Tanh, Exp ...; Add, Sub, Mul, Max, Min
// of two operands.
template <MapFunction function>
Result<MapOp> import_map(OnnxNode&) {
  return MapOp{function};
}
template <ZipFunction function>
Result<ZipOp> import_zip(OnnxNode&) {
  return ZipOp{function};
}

}  // namespace lathe
