// alpha * A B + beta * bias. Operands: A [m, k], B [k, n], each possibly stored transposed, and optionally a
// bias that broadcasts to [m, n].
#pragma once

#include "graph/operators/family.h"

namespace lathe {

struct GemmOp {
  static constexpr const char* kName = "Gemm";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 2;
  static constexpr size_t kMostOperands = 3;
  bool transpose_a = false;
  bool transpose_b = false;
  double alpha = 1;
  double beta = 1;

  bool operator==(const GemmOp&) const = default;
};

std::string attributes_of(const GemmOp& op);
Result<TensorType> infer(const GemmOp& op, std::span<const TensorType> inputs);
Values evaluate(const GemmOp& op, std::span<const Values> inputs);
double steps_of(const GemmOp& op, std::span<const TensorType> inputs);
Tensor lower(const GemmOp& op, DagBuilder& builder, std::span<const Tensor> operands);
bool needs_epilogue(const GemmOp& op, size_t operands);
Expr epilogue(const GemmOp& op, const Expr& value, const PointOperands& point);

// ONNX Gemm.
Result<GemmOp> import_gemm(OnnxNode& node);

}  // namespace lathe
