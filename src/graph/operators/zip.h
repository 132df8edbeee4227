// Operators that give each element from those of several operands at the same place, which broadcast as NumPy
// does; they join the group of what produces an operand of the result's shape.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

enum class ZipFunction : uint8_t {
  add,
  sub,
  mul,
  div,  // of integers cut off towards zero, 0 where the divisor is 0
  max,
  min,
  p_relu,     // x < 0 ? x * y : x
  mod,        // with the divisor's sign; of integers x where the divisor is 0
  remainder,  // with the dividend's sign; of integers x where the divisor is 0
  equal,
  less,
  less_equal,
  greater,
  greater_equal,
  logical_and,
  logical_or,
  logical_xor,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,  // by the width or more nothing is left
  shift_right,
};

// A function of two operands of one type. Integers wrap around.
struct ZipOp {
  static constexpr FusionRole kRole = FusionRole::elementwise;
  static constexpr size_t kLeastOperands = 2;
  static constexpr size_t kMostOperands = 2;

  ZipFunction function = ZipFunction::add;

  const char* name() const;  // as in ONNX
  bool operator==(const ZipOp&) const = default;
};

// The second operand where the first one is true, else the third.
struct WhereOp {
  static constexpr const char* kName = "Where";
  static constexpr FusionRole kRole = FusionRole::elementwise;
  static constexpr size_t kLeastOperands = 3;
  static constexpr size_t kMostOperands = 3;
  static constexpr bool kMovesElements = true;

  bool operator==(const WhereOp&) const = default;
};

std::string attributes_of(const ZipOp& op);
std::string attributes_of(const WhereOp& op);
Result<TensorType> infer(const ZipOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const WhereOp& op, std::span<const TensorType> inputs);
Values evaluate(const ZipOp& op, std::span<const Values> inputs);
Values evaluate(const WhereOp& op, std::span<const Values> inputs);
Expr lower(const ZipOp& op, const PointOperands& point);
Expr lower(const WhereOp& op, const PointOperands& point);

// ONNX Mod.
Result<ZipOp> import_mod(OnnxNode& node);
// ONNX BitShift.
Result<ZipOp> import_bit_shift(OnnxNode& node);
// ONNX Where.
Result<WhereOp> import_where(OnnxNode& node);
// The ONNX operators without attributes: Add, Sub, Mul, Max, Min of two operands, Equal, Less, And ...
template <ZipFunction function>
Result<ZipOp> import_zip(OnnxNode&) {
  return ZipOp{function};
}

}  // namespace lathe
