// Operators that give elements another scale, by what those along some axes have in common: mean and
// variance, or a norm.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

// (x - mean) / sqrt(variance + epsilon) * scale + bias, mean and variance along the axes from `axis` on.
// Operands: x, scale, optional bias, which broadcast to x.
struct LayerNormOp {
  static constexpr const char* kName = "LayerNormalization";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 2;
  static constexpr size_t kMostOperands = 3;

  size_t axis = 0;
  double epsilon = 1e-5;

  bool operator==(const LayerNormOp&) const = default;
};

// The same of [N, C, ..] along all axes but the first, for each of so many groups of channels that lie side
// by side. Scale and bias have an element a channel, or one a group.
struct GroupNormOp {
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 3;
  static constexpr size_t kMostOperands = 3;
  static constexpr bool kHasChannels = true;

  int64_t groups = 0;  // 0: each channel by itself
  double epsilon = 1e-5;

  const char* name() const;  // as in ONNX: of groups, or of instances
  bool operator==(const GroupNormOp&) const = default;
};

// (x - mean) / (sqrt(variance) + 1e-9) along the axes.
struct MeanVarianceNormOp {
  static constexpr const char* kName = "MeanVarianceNormalization";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  std::vector<size_t> axes;  // ascending

  bool operator==(const MeanVarianceNormOp&) const = default;
};

// x over its norm along an axis, 0 where that is 0.
struct LpNormOp {
  static constexpr const char* kName = "LpNormalization";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  size_t axis = 0;
  bool squares = true;  // the root of the sum of squares; else the sum of magnitudes

  bool operator==(const LpNormOp&) const = default;
};

std::string attributes_of(const LayerNormOp& op);
std::string attributes_of(const GroupNormOp& op);
std::string attributes_of(const MeanVarianceNormOp& op);
std::string attributes_of(const LpNormOp& op);
Result<TensorType> infer(const LayerNormOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const GroupNormOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const MeanVarianceNormOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const LpNormOp& op, std::span<const TensorType> inputs);
Values evaluate(const LayerNormOp& op, std::span<const Values> inputs);
Values evaluate(const GroupNormOp& op, std::span<const Values> inputs);
Values evaluate(const MeanVarianceNormOp& op, std::span<const Values> inputs);
Values evaluate(const LpNormOp& op, std::span<const Values> inputs);
Tensor lower(const LayerNormOp& op, DagBuilder& builder, std::span<const Tensor> operands);
Tensor lower(const GroupNormOp& op, DagBuilder& builder, std::span<const Tensor> operands);
Tensor lower(const MeanVarianceNormOp& op, DagBuilder& builder, std::span<const Tensor> operands);
Tensor lower(const LpNormOp& op, DagBuilder& builder, std::span<const Tensor> operands);

// ONNX LayerNormalization with one output.
Result<LayerNormOp> import_layer_norm(OnnxNode& node);
// ONNX GroupNormalization: scale and bias are a group's before operator set 21, then a channel's.
Result<GroupNormOp> import_group_norm(OnnxNode& node);
Result<GroupNormOp> import_instance_norm(OnnxNode& node);
Result<MeanVarianceNormOp> import_mean_variance_norm(OnnxNode& node);
// ONNX LpNormalization of p 1 or 2.
Result<LpNormOp> import_lp_norm(OnnxNode& node);

}  // namespace lathe
