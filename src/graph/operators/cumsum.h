// Running sums and products along an axis.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

// At each place the sum, or the product, of the elements up to it, or from it on, with it or without. Of f32
// or of integers.
struct CumSumOp {
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  size_t axis = 0;
  bool exclusive = false;  // without the place itself
  bool reverse = false;    // from the place on
  bool multiplies = false;

  const char* name() const;  // as in ONNX
  bool operator==(const CumSumOp&) const = default;
};

std::string attributes_of(const CumSumOp& op);
Result<TensorType> infer(const CumSumOp& op, std::span<const TensorType> inputs);
Values evaluate(const CumSumOp& op, std::span<const Values> inputs);
Tensor lower(const CumSumOp& op, DagBuilder& builder, std::span<const Tensor> operands);

// ONNX CumSum and CumProd along a constant axis.
Result<CumSumOp> import_cumsum(OnnxNode& node);
Result<CumSumOp> import_cumprod(OnnxNode& node);

}  // namespace lathe
