// Operators that ask where along an axis the largest or the smallest element stands. NaN counts as both, as
// in NumPy.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

// The place of that element, as i64; of several the first one, or the last.
struct ArgExtremumOp {
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  bool largest = true;
  size_t axis = 0;
  bool keeps = true;  // the axis, with one place
  bool last = false;

  const char* name() const;  // as in ONNX
  bool operator==(const ArgExtremumOp&) const = default;
};

// 1 at the first place of the largest element along an axis, 0 elsewhere.
struct HardmaxOp {
  static constexpr const char* kName = "Hardmax";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  size_t axis = 0;

  bool operator==(const HardmaxOp&) const = default;
};

std::string attributes_of(const ArgExtremumOp& op);
std::string attributes_of(const HardmaxOp& op);
Result<TensorType> infer(const ArgExtremumOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const HardmaxOp& op, std::span<const TensorType> inputs);
Values evaluate(const ArgExtremumOp& op, std::span<const Values> inputs);
Values evaluate(const HardmaxOp& op, std::span<const Values> inputs);
Tensor lower(const ArgExtremumOp& op, DagBuilder& builder, std::span<const Tensor> operands);
Tensor lower(const HardmaxOp& op, DagBuilder& builder, std::span<const Tensor> operands);

// ONNX ArgMax, ArgMin, Hardmax (from operator set 13 on along one axis).
Result<ArgExtremumOp> import_arg_max(OnnxNode& node);
Result<ArgExtremumOp> import_arg_min(OnnxNode& node);
Result<HardmaxOp> import_hardmax(OnnxNode& node);

}  // namespace lathe
