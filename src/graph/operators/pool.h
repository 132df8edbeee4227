// Pooling of [N, C, spatial...]: a maximum or an average over a window, or the average over all of the plane.
#pragma once

#include "graph/operators/family.h"
#include "graph/operators/window.h"

namespace lathe {

enum class PoolKind : uint8_t { max, average };

struct PoolOp {
  static constexpr const char* kName = "Pool";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  PoolKind kind = PoolKind::max;
  Window window;
  bool count_padding = false;  // average: divide by the whole kernel, padding included

  bool operator==(const PoolOp&) const = default;
};

struct GlobalAveragePoolOp {
  static constexpr const char* kName = "GlobalAveragePool";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  bool operator==(const GlobalAveragePoolOp&) const = default;
};

std::string attributes_of(const PoolOp& op);
std::string attributes_of(const GlobalAveragePoolOp& op);
Result<TensorType> infer(const PoolOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const GlobalAveragePoolOp& op, std::span<const TensorType> inputs);
Values evaluate(const PoolOp& op, std::span<const Values> inputs);
Values evaluate(const GlobalAveragePoolOp& op, std::span<const Values> inputs);

// ONNX MaxPool, AveragePool, GlobalAveragePool.
Result<PoolOp> import_max_pool(OnnxNode& node);
Result<PoolOp> import_average_pool(OnnxNode& node);
Result<GlobalAveragePoolOp> import_global_average_pool(OnnxNode& node);

}  // namespace lathe
