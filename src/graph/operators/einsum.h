// Sums of products over named axes, by Einstein's convention as NumPy has it.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

// Axes of one label run together: a label that occurs twice in one operand takes its diagonal, one that the
// result lacks is summed over, an axis of one place is repeated.
struct EinsumOp {
  static constexpr const char* kName = "Einsum";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 64;
  using Labels = std::vector<size_t>;  // an entry an axis, numbered from 0

  std::vector<Labels> operands;
  Labels result;

  bool operator==(const EinsumOp&) const = default;
};

std::string attributes_of(const EinsumOp& op);
Result<TensorType> infer(const EinsumOp& op, std::span<const TensorType> inputs);
Values evaluate(const EinsumOp& op, std::span<const Values> inputs);
double steps_of(const EinsumOp& op, std::span<const TensorType> inputs);
Tensor lower(const EinsumOp& op, DagBuilder& builder, std::span<const Tensor> operands);

// ONNX Einsum: letters and ellipses, with or without `->` and the result's.
Result<EinsumOp> import_einsum(OnnxNode& node);

}  // namespace lathe
