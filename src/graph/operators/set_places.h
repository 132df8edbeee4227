// Where along an axis flags are set.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

// Of flags, bool, the places of the first so many that are set along the axis, ascending, as i64; the last
// place of the axis where fewer are. The work grows with the axis and, by its logarithm, with the count.
struct SetPlacesOp {
  static constexpr const char* kName = "SetPlaces";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  size_t axis = 0;
  int64_t count = 1;

  bool operator==(const SetPlacesOp&) const = default;
};

std::string attributes_of(const SetPlacesOp& op);
Result<TensorType> infer(const SetPlacesOp& op, std::span<const TensorType> inputs);
Values evaluate(const SetPlacesOp& op, std::span<const Values> inputs);
Tensor lower(const SetPlacesOp& op, DagBuilder& builder, std::span<const Tensor> operands);

}  // namespace lathe
