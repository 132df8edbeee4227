// Products of stacks of matrices, by NumPy's rules: A [.., m, k] and B [.., k, n], whose leading axes
// broadcast; an operand of one axis is a row or a column, whose axis the result does not have. Of f32, or of
// integers (`product_type`).
#pragma once

#include "graph/operators/family.h"

namespace lathe {

struct MatMulOp {
  static constexpr const char* kName = "MatMul";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 2;
  static constexpr size_t kMostOperands = 2;

  bool operator==(const MatMulOp&) const = default;
};

std::string attributes_of(const MatMulOp& op);
Result<TensorType> infer(const MatMulOp& op, std::span<const TensorType> inputs);
Values evaluate(const MatMulOp& op, std::span<const Values> inputs);
double steps_of(const MatMulOp& op, std::span<const TensorType> inputs);
Tensor lower(const MatMulOp& op, DagBuilder& builder, std::span<const Tensor> operands);

// ONNX MatMul.
Result<MatMulOp> import_matmul(OnnxNode& node);

}  // namespace lathe
