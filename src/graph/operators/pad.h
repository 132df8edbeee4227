// Padding: places beyond the operand along any of its axes, whatever the element type.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

// What stands in the places beyond the operand.
enum class PadMode : uint8_t { constant, edge, reflect };

struct PadOp {
  static constexpr const char* kName = "Pad";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  Shape before;  // an entry an axis; negative ones cut
  Shape after;
  PadMode mode = PadMode::constant;
  double value = 0;  // of the operand's type

  bool operator==(const PadOp&) const = default;
};

std::string attributes_of(const PadOp& op);
Result<TensorType> infer(const PadOp& op, std::span<const TensorType> inputs);
Values evaluate(const PadOp& op, std::span<const Values> inputs);
Tensor lower(const PadOp& op, DagBuilder& builder, std::span<const Tensor> operands);

// The pads of ONNX Pad, attributes before operator set 11, then constants: of a PadOp by zeros.
Result<PadOp> read_pads(OnnxNode& node);
// ONNX CenterCropPad, to a constant shape.
Result<PadOp> import_center_crop_pad(OnnxNode& node);

}  // namespace lathe
