// Operators that take elements from places of an axis: those that lie evenly, known when the model is read,
// or those that another operand names when it runs. Negative places count from the end. Places beyond the
// axis are refused where they are constants (`check_places`), else, which ONNX leaves open, they count on
// from its other end (they are taken modulo its extent), so that none leads outside of the operand.
#pragma once

#include <optional>
#include <span>
#include <variant>

#include "graph/operators/family.h"

namespace lathe {

// Evenly spaced places of one axis, in the shape of a list of them.
struct GatherOp {
  static constexpr const char* kName = "Gather";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr bool kMovesElements = true;
  size_t axis = 0;
  int64_t first = 0;
  int64_t step = 0;
  Shape places_shape;  // replaces the axis

  bool operator==(const GatherOp&) const = default;
};

// The places of one axis that the second operand names, whose shape replaces the axis.
struct GatherByOp {
  static constexpr const char* kName = "Gather";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 2;
  static constexpr size_t kMostOperands = 2;
  static constexpr bool kMovesElements = true;
  size_t axis = 0;

  bool operator==(const GatherByOp&) const = default;
};

// Of each element of the second operand the element of the first one at the same index, but for the axis,
// where it is what the second operand says.
struct GatherElementsOp {
  static constexpr const char* kName = "GatherElements";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 2;
  static constexpr size_t kMostOperands = 2;
  static constexpr bool kMovesElements = true;
  size_t axis = 0;

  bool operator==(const GatherElementsOp&) const = default;
};

std::string attributes_of(const GatherOp& op);
std::string attributes_of(const GatherByOp& op);
std::string attributes_of(const GatherElementsOp& op);
Result<TensorType> infer(const GatherOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const GatherByOp& op, std::span<const TensorType> inputs);
Result<TensorType> infer(const GatherElementsOp& op, std::span<const TensorType> inputs);
Values evaluate(const GatherOp& op, std::span<const Values> inputs);
Values evaluate(const GatherByOp& op, std::span<const Values> inputs);
Values evaluate(const GatherElementsOp& op, std::span<const Values> inputs);
Tensor lower(const GatherOp& op, DagBuilder& builder, std::span<const Tensor> operands);
Tensor lower(const GatherByOp& op, DagBuilder& builder, std::span<const Tensor> operands);
Tensor lower(const GatherElementsOp& op, DagBuilder& builder, std::span<const Tensor> operands);

// An Error unless each of these is a place of the axis.
Status check_places(std::span<const double> places, size_t axis, const Shape& shape);

// Those places as the operator takes them, where they lie evenly.
std::optional<GatherOp> evenly_spaced(size_t axis, std::span<const int64_t> places,
                                      const Shape& places_shape);

// ONNX Gather: of constant places that lie evenly, or by an operand.
Result<std::variant<GatherOp, GatherByOp>> import_gather(OnnxNode& node);
// ONNX GatherElements.
Result<GatherElementsOp> import_gather_elements(OnnxNode& node);

}  // namespace lathe
