// Pooling of [N, C, spatial...]: the maximum or the average over a window or over the whole of each channel.
#pragma once

#include "graph/operators/family.h"
#include "graph/operators/window.h"

namespace lathe {

// Of f32 or integers.
struct MaxPoolOp {
  static constexpr const char* kName = "MaxPool";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr bool kHasChannels = true;
  SlidingWindow window;

  bool operator==(const MaxPoolOp&) const = default;
};

// The sum of a window over the number of its taps that count: those within the operand and `counted` places
// around it.
struct AveragePoolOp {
  static constexpr const char* kName = "AveragePool";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr bool kHasChannels = true;
  SlidingWindow window;
  Shape counted_before;  // an entry a spatial axis
  Shape counted_after;

  bool operator==(const AveragePoolOp&) const = default;
};

// The norm of a window: the sum of magnitudes, or the root of the sum of squares.
struct LpPoolOp {
  static constexpr const char* kName = "LpPool";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr bool kHasChannels = true;
  SlidingWindow window;
  bool squares = true;

  bool operator==(const LpPoolOp&) const = default;
};

struct GlobalAveragePoolOp {
  static constexpr const char* kName = "GlobalAveragePool";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr bool kHasChannels = true;

  bool operator==(const GlobalAveragePoolOp&) const = default;
};

std::string attributes_of(const MaxPoolOp& op);
std::string attributes_of(const AveragePoolOp& op);
std::string attributes_of(const LpPoolOp& op);
std::string attributes_of(const GlobalAveragePoolOp& op);
Result<TensorType> infer(const MaxPoolOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const AveragePoolOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const LpPoolOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const GlobalAveragePoolOp& op, std::span<const TensorType> inputs);
Values evaluate(const MaxPoolOp& op, std::span<const Values> inputs);
double steps_of(const MaxPoolOp& op, std::span<const TensorType> inputs);
Values evaluate(const AveragePoolOp& op, std::span<const Values> inputs);
double steps_of(const AveragePoolOp& op, std::span<const TensorType> inputs);
Values evaluate(const LpPoolOp& op, std::span<const Values> inputs);
double steps_of(const LpPoolOp& op, std::span<const TensorType> inputs);
Values evaluate(const GlobalAveragePoolOp& op, std::span<const Values> inputs);
Tensor lower(const MaxPoolOp& op, DagBuilder& builder, std::span<const Tensor> operands);
Tensor lower(const AveragePoolOp& op, DagBuilder& builder, std::span<const Tensor> operands);
Tensor lower(const LpPoolOp& op, DagBuilder& builder, std::span<const Tensor> operands);
Tensor lower(const GlobalAveragePoolOp& op, DagBuilder& builder, std::span<const Tensor> operands);

// ONNX MaxPool, AveragePool, LpPool (of p 2, or sums of magnitudes), GlobalAveragePool. Where `ceil_mode` is
// set, pads behind make room for a last window; they do not count.
Result<MaxPoolOp> import_max_pool(OnnxNode& node);
Result<AveragePoolOp> import_average_pool(OnnxNode& node);
Result<LpPoolOp> import_lp_pool(OnnxNode& node);
Result<GlobalAveragePoolOp> import_global_average_pool(OnnxNode& node);

}  // namespace lathe
