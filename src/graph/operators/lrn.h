// Local response normalisation: elements over the sum of squares of the channels around.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

// x / (bias + alpha / size * sum of squares)^beta, the sum over the channels from (size - 1) / 2 in front,
// rounded down, `size` in all, of [N, C, ..].
struct LrnOp {
  static constexpr const char* kName = "LRN";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr bool kHasChannels = true;

  int64_t size = 1;
  double alpha = 1e-4;
  double beta = 0.75;
  double bias = 1;

  bool operator==(const LrnOp&) const = default;
};

std::string attributes_of(const LrnOp& op);
Result<TensorType> infer(const LrnOp& op, std::span<const TensorType> inputs);
Values evaluate(const LrnOp& op, std::span<const Values> inputs);
Tensor lower(const LrnOp& op, DagBuilder& builder, std::span<const Tensor> operands);

// ONNX LRN.
Result<LrnOp> import_lrn(OnnxNode& node);

}  // namespace lathe
