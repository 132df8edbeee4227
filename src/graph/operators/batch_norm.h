// Batch normalisation in inference: (x - mean) / sqrt(variance + epsilon) * scale + bias along axis 1.
// Operands: x [N, C, ...], scale, bias, mean, variance [C]. Behind a convolution it is folded away.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

struct BatchNormOp {
  static constexpr const char* kName = "BatchNormalization";
  static constexpr FusionRole kRole = FusionRole::elementwise;
  static constexpr size_t kLeastOperands = 5;
  static constexpr size_t kMostOperands = 5;
  static constexpr bool kHasChannels = true;
  double epsilon = 1e-5;

  bool operator==(const BatchNormOp&) const = default;
};

std::string attributes_of(const BatchNormOp& op);
Result<TensorType> infer(const BatchNormOp& op, std::span<const TensorType> inputs);
Values evaluate(const BatchNormOp& op, std::span<const Values> inputs);
Expr lower(const BatchNormOp& op, const PointOperands& point);

// ONNX BatchNormalization by statistics that are given: of inference.
Result<BatchNormOp> import_batch_norm(OnnxNode& node);

}  // namespace lathe
