// Resampling to another number of places along any axes: the nearest place, of any element type, or between
// the two next to it, of f32.
#pragma once

#include "graph/operators/family.h"
#include "graph/operators/resize_places.h"

namespace lathe {

// `runtime_bilinear`: linear along the last two axes, every product and sum rounded as ONNX Runtime's: what
// is quantized afterwards often lies halfway between two numbers, and falls to the same side then.
enum class ResizeMode : uint8_t { nearest, linear, runtime_bilinear };

struct ResizeOp {
  static constexpr const char* kName = "Resize";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;
  static constexpr bool kHasChannels = true;

  Shape shape;                // of the result
  std::vector<float> scales;  // ONNX's: an axis' places of the result for one of the operand
  ResizeMode mode = ResizeMode::nearest;
  CoordinateMode coordinates = CoordinateMode::half_pixel;
  NearestMode nearest = NearestMode::round_prefer_floor;

  bool operator==(const ResizeOp&) const = default;
};

// Whether ONNX Runtime takes a linear resampling of an operand of that shape for one of images: the last two
// of two axes, or of four.
bool resizes_images(const ResizeOp& op, const Shape& operand);

std::string attributes_of(const ResizeOp& op);
Result<TensorType> infer(const ResizeOp& op, std::span<const TensorType> inputs);
Values evaluate(const ResizeOp& op, std::span<const Values> inputs);
Tensor lower(const ResizeOp& op, DagBuilder& builder, std::span<const Tensor> operands);

// The shape and the scales that an ONNX Resize has: constant sizes or scales of all axes or some.
Status read_extents(OnnxNode& node, ResizeOp& op);
// ONNX Resize and Upsample, to constant sizes or by constant scales; what goes by weights is resample.h's.
Result<ResizeOp> import_resize(OnnxNode& node);
Result<ResizeOp> import_upsample(OnnxNode& node);

}  // namespace lathe
