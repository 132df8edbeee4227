// Convolution. Operands: data [N, C, spatial...], weight [M, C / groups, kernel...], optional bias [M]; gives
// [N, M, spatial...]; of f32, or of integers (`product_type`). What the window pads with is a number of the
// data's type: of quantized data the one that stands for 0. Sums of few integers of 8 bits may be numbers of
// f32, which holds each of them exactly.
#pragma once

#include "graph/operators/family.h"
#include "graph/operators/pad.h"
#include "graph/operators/window.h"

namespace lathe {

struct ConvOp {
  static constexpr const char* kName = "Conv";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 2;
  static constexpr size_t kMostOperands = 3;
  static constexpr bool kHasChannels = true;
  SlidingWindow window;
  int64_t groups = 1;
  double beside = 0;         // what the window pads with
  bool sums_in_f32 = false;  // of integers of 8 bits: f32 is what it gives, and adds a bias of

  bool operator==(const ConvOp&) const = default;
};

std::string attributes_of(const ConvOp& op);
Result<TensorType> infer(const ConvOp& op, std::span<const TensorType> inputs);
Values evaluate(const ConvOp& op, std::span<const Values> inputs);
double steps_of(const ConvOp& op, std::span<const TensorType> inputs);
Tensor lower(const ConvOp& op, DagBuilder& builder, std::span<const Tensor> operands);
bool needs_epilogue(const ConvOp& op, size_t operands);
Expr epilogue(const ConvOp& op, const Expr& value, const PointOperands& point);

// Whether f32 holds every sum of so many products of integers of 8 bits and a whole number of that magnitude.
bool fits_f32(int64_t terms, double bias = 0);
// What the window pads with, as an operator of its own, and the convolution without it.
PadOp pads_of(const ConvOp& op);
ConvOp unpadded(ConvOp op);

// ONNX Conv.
Result<ConvOp> import_conv(OnnxNode& node);
// The same of a node whose weight is that input.
Result<ConvOp> import_conv_of(OnnxNode& node, size_t weights);

}  // namespace lathe
