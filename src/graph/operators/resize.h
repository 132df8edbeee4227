// Resampling to another number of places along any axes: the nearest place, or between the two next to it.
#pragma once

#include "graph/operators/family.h"

namespace lathe {

enum class ResizeMode : uint8_t { nearest, linear };

// Where place y of the result lies in the operand: `half_pixel` takes the middles of places onto each other
// (`half_pixel_or_first`: a single place lies on the first), `asymmetric` the first places, `align_corners`
// the first and the last ones.
enum class CoordinateMode : uint8_t { half_pixel, half_pixel_or_first, asymmetric, align_corners };

// What the nearest place is.
enum class NearestMode : uint8_t { round_prefer_floor, round_prefer_ceil, floor, ceil };

struct ResizeOp {
  static constexpr const char* kName = "Resize";
  static constexpr FusionRole kRole = FusionRole::anchor;
  static constexpr size_t kLeastOperands = 1;
  static constexpr size_t kMostOperands = 1;

  Shape shape;  // of the result
  ResizeMode mode = ResizeMode::nearest;
  CoordinateMode coordinates = CoordinateMode::half_pixel;
  NearestMode nearest = NearestMode::round_prefer_floor;

  bool operator==(const ResizeOp&) const = default;
};

std::string attributes_of(const ResizeOp& op);
Result<TensorType> infer(const ResizeOp& op, std::span<const TensorType> inputs);
Values evaluate(const ResizeOp& op, std::span<const Values> inputs);
Tensor lower(const ResizeOp& op, DagBuilder& builder, std::span<const Tensor> operands);

// ONNX Resize and Upsample, to constant sizes or by constant scales that give whole sizes.
Result<ResizeOp> import_resize(OnnxNode& node);
Result<ResizeOp> import_upsample(OnnxNode& node);

}  // namespace lathe
