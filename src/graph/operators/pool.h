// Pooling of [N, C, spatial...]: the maximum over a window, the average over the whole of each channel.
#pragma once

#include "graph/operators/family.h"
#include "graph/operators/window.h"

namespace lathe {

struct MaxPoolOp {
  static constexpr const char* kName = "MaxPool";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  SlidingWindow window;

  bool operator==(const MaxPoolOp&) const = default;
};

struct GlobalAveragePoolOp {
  static constexpr const char* kName = "GlobalAveragePool";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  bool operator==(const GlobalAveragePoolOp&) const = default;
};

std::string attributes_of(const MaxPoolOp& op);
std::string attributes_of(const GlobalAveragePoolOp& op);
Result<TensorType> infer(const MaxPoolOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const GlobalAveragePoolOp& op, std::span<const TensorType> inputs);
Values evaluate(const MaxPoolOp& op, std::span<const Values> inputs);
Values evaluate(const GlobalAveragePoolOp& op, std::span<const Values> inputs);
Tensor lower(const MaxPoolOp& op, DagBuilder& builder, std::span<const Tensor> operands);
bool needs_epilogue(const MaxPoolOp& op, size_t operands);
Expr epilogue(const MaxPoolOp& op, const Expr& value, const PointOperands& point);
Tensor lower(const GlobalAveragePoolOp& op, DagBuilder& builder, std::span<const Tensor> operands);
bool needs_epilogue(const GlobalAveragePoolOp& op, size_t operands);
Expr epilogue(const GlobalAveragePoolOp& op, const Expr& value, const PointOperands& point);

// ONNX MaxPool, GlobalAveragePool.
Result<MaxPoolOp> import_max_pool(OnnxNode& node);
Result<GlobalAveragePoolOp> import_global_average_pool(OnnxNode& node);

}  // namespace lathe
