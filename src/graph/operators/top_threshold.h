// The smallest of the largest elements along an axis, found bit by bit.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

// One step of a radix descent. Of keys, i32 or i64, a threshold with one place along the axis, and one bit:
// the threshold with that bit turned over where at least `count` keys along the axis reach that, else as it
// was. From the least integer through all bits, the sign first, it becomes the `count`-th largest key. The
// bit is an operand so that all steps are one task.
struct TopThresholdOp {
  static constexpr const char* kName = "TopThreshold";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 3;
  static constexpr size_t kMostOperands = 3;
  size_t axis = 0;
  int64_t count = 1;

  bool operator==(const TopThresholdOp&) const = default;
};

std::string attributes_of(const TopThresholdOp& op);
Result<TensorType> infer(const TopThresholdOp& op, std::span<const TensorType> inputs);
Values evaluate(const TopThresholdOp& op, std::span<const Values> inputs);
Tensor lower(const TopThresholdOp& op, DagBuilder& builder, std::span<const Tensor> operands);

}  // namespace lathe
