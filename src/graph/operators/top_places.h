// Where along an axis its largest or smallest elements stand.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

// The places of so many of them, in order, as i64; equal ones in the order in which they stand. NaN counts
// as larger than all numbers.
struct TopPlacesOp {
  // Along an axis, of which each element is compared with each other one.
  static constexpr int64_t kMostElements = int64_t{1} << 16;
  static constexpr const char* kName = "TopK";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  size_t axis = 0;
  int64_t count = 1;
  bool largest = true;

  bool operator==(const TopPlacesOp&) const = default;
};

std::string attributes_of(const TopPlacesOp& op);
Result<TensorType> infer(const TopPlacesOp& op, std::span<const TensorType> inputs);
Values evaluate(const TopPlacesOp& op, std::span<const Values> inputs);
Tensor lower(const TopPlacesOp& op, DagBuilder& builder, std::span<const Tensor> operands);

// ONNX TopK, of a constant count, which is an attribute before operator set 10. Sorted whether that is asked
// for or not.
Result<TopPlacesOp> import_top_places(OnnxNode& node);

}  // namespace lathe
