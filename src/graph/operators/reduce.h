// Operators that combine all elements along some axes: reductions, softmax, layer normalisation.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

enum class ReduceFunction : uint8_t { sum, mean, max, min, l1, l2, sum_square };

struct ReduceOp {
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  ReduceFunction function = ReduceFunction::sum;
  std::vector<size_t> axes;  // ascending
  bool keeps_axes = true;    // with one place each

  const char* name() const;  // as in ONNX
  bool operator==(const ReduceOp&) const = default;
};

// exp(x) over the sum of these along the axes, or its logarithm.
struct SoftmaxOp {
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  std::vector<size_t> axes;  // ascending
  bool logarithm = false;

  const char* name() const;
  bool operator==(const SoftmaxOp&) const = default;
};

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

std::string attributes_of(const ReduceOp& op);
std::string attributes_of(const SoftmaxOp& op);
std::string attributes_of(const LayerNormOp& op);
Result<TensorType> infer(const ReduceOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const SoftmaxOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const LayerNormOp& op, std::span<const TensorType> inputs);
Values evaluate(const ReduceOp& op, std::span<const Values> inputs);
Values evaluate(const SoftmaxOp& op, std::span<const Values> inputs);
Values evaluate(const LayerNormOp& op, std::span<const Values> inputs);
Tensor lower(const ReduceOp& op, DagBuilder& builder, std::span<const Tensor> operands);
Tensor lower(const SoftmaxOp& op, DagBuilder& builder, std::span<const Tensor> operands);
Tensor lower(const LayerNormOp& op, DagBuilder& builder, std::span<const Tensor> operands);

// ONNX ReduceSum, ReduceMean ..; the axes are an attribute in older operator sets, then a constant.
Result<ReduceOp> import_reduce(OnnxNode& node, ReduceFunction function);
template <ReduceFunction function>
Result<ReduceOp> import_reduce_of(OnnxNode& node) {
  return import_reduce(node, function);
}
// ONNX Softmax, LogSoftmax: before operator set 13 along all axes from `axis` on.
Result<SoftmaxOp> import_softmax(OnnxNode& node);
Result<SoftmaxOp> import_log_softmax(OnnxNode& node);
// ONNX LayerNormalization with one output.
Result<LayerNormOp> import_layer_norm(OnnxNode& node);

}  // namespace lathe
