// Transposed convolution. Operands: data [N, C, spatial...], weight [C, M / groups, kernel...], optional bias
// [M]; gives [N, M, spatial...], of extents (input - 1) * stride + what the kernel reaches over - pads +
// output padding.
#pragma once

#include "graph/operators/family.h"
#include "graph/operators/window.h"

namespace lathe {

struct ConvTransposeOp {
  static constexpr const char* kName = "ConvTranspose";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 2;
  static constexpr size_t kMostOperands = 3;
  static constexpr bool kHasChannels = true;
  SlidingWindow window;  // its pads are cut off the result
  Shape output_padding;  // what is added behind it again, an entry a spatial axis
  int64_t groups = 1;

  bool operator==(const ConvTransposeOp&) const = default;
};

std::string attributes_of(const ConvTransposeOp& op);
Result<TensorType> infer(const ConvTransposeOp& op, std::span<const TensorType> inputs);
Values evaluate(const ConvTransposeOp& op, std::span<const Values> inputs);
double steps_of(const ConvTransposeOp& op, std::span<const TensorType> inputs);
Tensor lower(const ConvTransposeOp& op, DagBuilder& builder, std::span<const Tensor> operands);
bool needs_epilogue(const ConvTransposeOp& op, size_t operands);
Expr epilogue(const ConvTransposeOp& op, const Expr& value, const PointOperands& point);

// ONNX ConvTranspose; where `auto_pad` or `output_shape` say what it gives, its pads follow.
Result<ConvTransposeOp> import_conv_transpose(OnnxNode& node);

}  // namespace lathe
