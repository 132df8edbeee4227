// One triangle of each matrix of a stack, the rest 0.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

// Of [.., rows, columns] the elements of columns from row + offset on, or up to it, whatever the element
// type.
struct TriluOp {
  static constexpr const char* kName = "Trilu";
  static constexpr FusionRole kRole = FusionRole::elementwise;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  bool upper = true;
  int64_t offset = 0;

  bool operator==(const TriluOp&) const = default;
};

std::string attributes_of(const TriluOp& op);
Result<TensorType> infer(const TriluOp& op, std::span<const TensorType> inputs);
Values evaluate(const TriluOp& op, std::span<const Values> inputs);
Expr lower(const TriluOp& op, const PointOperands& point);

// ONNX Trilu with a constant offset.
Result<TriluOp> import_trilu(OnnxNode& node);

}  // namespace lathe
