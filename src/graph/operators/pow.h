// Powers of which both operands are computed.
#pragma once

#include <variant>

#include "graph/operators/elementwise.h"
#include "graph/operators/family.h"

namespace lathe {

// The first operand to the power of the second one, in the first one's type; each may be of reals or of
// integers. Of two integers exact where the type holds it; a negative exponent gives what is left of the
// quotient when it is cut off, and 0 of 0.
struct PowOp {
  static constexpr const char* kName = "Pow";
  static constexpr FusionRole kRole = FusionRole::elementwise;
  static constexpr size_t kLeastOperands = 2;
  static constexpr size_t kMostOperands = 2;

  bool operator==(const PowOp&) const = default;
};

std::string attributes_of(const PowOp& op);
Result<TensorType> infer(const PowOp& op, std::span<const TensorType> inputs);
Values evaluate(const PowOp& op, std::span<const Values> inputs);
Expr lower(const PowOp& op, const PointOperands& point);

// ONNX Pow: of reals to a power that one constant gives, or of any two operands.
Result<std::variant<MapOp, PowOp>> import_pow(OnnxNode& node);

}  // namespace lathe
