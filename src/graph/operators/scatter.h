// Elements written to the places that another operand names when the network runs.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

// What becomes of a place and the elements that are written to it: the last of these, or all combined.
enum class ScatterFunction : uint8_t { last, add, mul, max, min };

// Of data [A, R, S], places [A, U, 1 or S] of i32 or i64 and updates [A, U, S]: each update at its place
// along the second axis; one that names no place of it is not written. Each place looks at each update.
struct ScatterOp {
  static constexpr const char* kName = "Scatter";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 3;
  static constexpr size_t kMostOperands = 3;
  ScatterFunction function = ScatterFunction::last;

  bool operator==(const ScatterOp&) const = default;
};

std::string attributes_of(const ScatterOp& op);
Result<TensorType> infer(const ScatterOp& op, std::span<const TensorType> inputs);
Values evaluate(const ScatterOp& op, std::span<const Values> inputs);
Tensor lower(const ScatterOp& op, DagBuilder& builder, std::span<const Tensor> operands);

}  // namespace lathe
