#include "graph/operators/resize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/onnx_node.h"
#include "ops/axes.h"

namespace lathe {
namespace {

// The operand's coordinate of place y of the result, as (scale * y + shift) / divisor.
struct Coordinate {
  int64_t scale = 1;
  int64_t shift = 0;
  int64_t divisor = 1;
};

Coordinate coordinate_of(CoordinateMode mode, int64_t from, int64_t to) {
  switch (mode) {
    case CoordinateMode::half_pixel_or_first:
      if (to == 1) return {0, 0, 1};
      [[fallthrough]];
    // (y + 1/2) * from / to - 1/2
    case CoordinateMode::half_pixel: return {2 * from, from - to, 2 * to};
    case CoordinateMode::asymmetric: return {from, 0, to};
    case CoordinateMode::align_corners:
      if (to == 1) return {0, 0, 1};
      return {from - 1, 0, to - 1};
  }
  return {};
}

// The nearest place, whose quotient rounded down it is.
Coordinate nearest_place(const ResizeOp& op, int64_t from, int64_t to) {
  const auto [scale, shift, divisor] = coordinate_of(op.coordinates, from, to);
  switch (op.nearest) {
    case NearestMode::floor: break;
    case NearestMode::ceil: return {scale, shift + divisor - 1, divisor};
    // ceil(x - 1/2) and floor(x + 1/2)
    case NearestMode::round_prefer_floor: return {2 * scale, 2 * shift + divisor - 1, 2 * divisor};
    case NearestMode::round_prefer_ceil: return {2 * scale, 2 * shift + divisor, 2 * divisor};
  }
  return {scale, shift, divisor};
}

Affine numerator(const Coordinate& at, const Var& y) { return Affine(y) * at.scale + Affine(at.shift); }

// f(place), held within 0 .. from - 1.
template <class Element>
Expr within(const Affine& place, int64_t from, int64_t least, int64_t most, Element f) {
  Expr body = f(place);
  if (most >= from) body = select(Expr(place) < Expr(from), body, f(Affine(from - 1)));
  if (least < 0) body = select(Expr(place) < Expr(int64_t{0}), f(Affine(0)), body);
  return body;
}

int64_t floor_of(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

int64_t place_of(const Coordinate& at, int64_t y) { return floor_of(at.scale * y + at.shift, at.divisor); }

// One axis of a tensor resampled.
Tensor lower_axis(const ResizeOp& op, size_t d, DagBuilder& builder, const Tensor& tensor) {
  const int64_t from = tensor->shape[d];
  const int64_t to = op.shape[d];
  Shape shape = tensor->shape;
  shape[d] = to;
  const std::vector<Axis> axes = axes_of(Tensor("resized", shape));
  const auto element = [&](const Affine& place) {
    std::vector<Affine> index = indices(axes);
    index[d] = place;
    return load(tensor, index);
  };
  const Var& y = axes[d].var;
  const bool linear = op.mode == ResizeMode::linear;
  const Coordinate at = linear ? coordinate_of(op.coordinates, from, to) : nearest_place(op, from, to);
  const Affine place = floor_div(numerator(at, y), at.divisor);
  const int64_t least = place_of(at, 0);
  const int64_t most = place_of(at, to - 1);
  Expr body = within(place, from, least, most, element);
  if (linear) {
    const Expr rest = cast({DType::f32}, Expr(modulo(numerator(at, y), at.divisor)));
    const Expr share = rest * literal({DType::f32}, 1 / static_cast<double>(at.divisor));
    const Expr next = within(place + Affine(1), from, least + 1, most + 1, element);
    body = body + (next - body) * share;
  }
  return builder.compute(builder.fresh_name("resized"), axes, body);
}

// One axis of values resampled.
Values resize_axis(const ResizeOp& op, size_t d, const Values& x) {
  const int64_t from = x.shape[d];
  const int64_t to = op.shape[d];
  const bool linear = op.mode == ResizeMode::linear;
  const Coordinate at = linear ? coordinate_of(op.coordinates, from, to) : nearest_place(op, from, to);
  Values result{x.shape, {}};
  result.shape[d] = to;
  Shape index(x.shape.size(), 0);
  do {
    const int64_t place = place_of(at, index[d]);
    const auto element = [&](int64_t p) {
      Shape source = index;
      source[d] = std::clamp<int64_t>(p, 0, from - 1);
      return x.data[static_cast<size_t>(broadcast_offset(x.shape, source))];
    };
    const double share =
        static_cast<double>(at.scale * index[d] + at.shift) / static_cast<double>(at.divisor) -
        static_cast<double>(place);
    result.data.push_back(linear ? element(place) * (1 - share) + element(place + 1) * share
                                 : element(place));
  } while (next_index(index, result.shape));
  return result;
}

Status read_modes(OnnxNode& node, ResizeOp& op) {
  const std::string mode = node.text("mode", "nearest");
  const std::string coordinates = node.text("coordinate_transformation_mode", "half_pixel");
  const std::string nearest = node.text("nearest_mode", "round_prefer_floor");
  const auto unsupported = [](const char* name, const std::string& value, const char* supported) {
    return fail(ErrorKind::unsupported,
                fmt::format("attribute '{}' is '{}', and Lathe supports {}", name, value, supported));
  };
  if (mode != "nearest" && mode != "linear") return unsupported("mode", mode, "nearest and linear");
  op.mode = mode == "linear" ? ResizeMode::linear : ResizeMode::nearest;
  if (coordinates == "asymmetric") {
    op.coordinates = CoordinateMode::asymmetric;
  } else if (coordinates == "align_corners") {
    op.coordinates = CoordinateMode::align_corners;
  } else if (coordinates == "pytorch_half_pixel") {
    op.coordinates = CoordinateMode::half_pixel_or_first;
  } else if (coordinates != "half_pixel") {
    return unsupported("coordinate_transformation_mode", coordinates,
                       "half_pixel, pytorch_half_pixel, asymmetric and align_corners");
  }
  constexpr std::pair<const char*, NearestMode> kNearest[] = {
      {"round_prefer_floor", NearestMode::round_prefer_floor},
      {"round_prefer_ceil", NearestMode::round_prefer_ceil},
      {"floor", NearestMode::floor},
      {"ceil", NearestMode::ceil}};
  for (const auto& [name, value] : kNearest) {
    if (nearest != name) continue;
    op.nearest = value;
    return {};
  }
  return unsupported("nearest_mode", nearest, "round_prefer_floor, round_prefer_ceil, floor and ceil");
}

// The result's shape by scales; each must give a whole number of places, so that it says the same as sizes.
Result<Shape> scaled_shape(const Shape& shape, const std::vector<double>& scales) {
  if (scales.size() != shape.size()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("it has {} scales for {} axes", scales.size(), shape.size()));
  }
  Shape result;
  for (size_t d = 0; d < shape.size(); ++d) {
    const double places = static_cast<double>(shape[d]) * scales[d];
    const double whole = std::round(places);
    if (!(whole >= 1 && whole < 1e9) || std::abs(places - whole) > 1e-4 * whole) {
      return fail(ErrorKind::unsupported,
                  fmt::format("the scale {} of axis {}, which has {} places, gives no whole number of them",
                              scales[d], d, shape[d]));
    }
    result.push_back(static_cast<int64_t>(whole));
  }
  return result;
}

}  // namespace

std::string attributes_of(const ResizeOp& op) {
  constexpr const char* kCoordinates[] = {"half pixel", "half pixel or first", "asymmetric", "align corners"};
  constexpr const char* kNearest[] = {"round prefer floor", "round prefer ceil", "floor", "ceil"};
  return fmt::format("to {}, {}, {}", to_string(op.shape), kCoordinates[static_cast<size_t>(op.coordinates)],
                     op.mode == ResizeMode::linear ? "linear" : kNearest[static_cast<size_t>(op.nearest)]);
}

Result<TensorType> infer(const ResizeOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_f32(inputs));
  const Shape& shape = inputs[0].shape;
  if (op.shape.size() != shape.size()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} does not become {}", to_string(shape), to_string(op.shape)));
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    // Keeps every product of extents within 64 bits.
    if (std::max(shape[d], op.shape[d]) < int64_t{1} << 28) continue;
    return fail(ErrorKind::unsupported, fmt::format("axis {} of {} is too large", d, to_string(op.shape)));
  }
  return TensorType{DType::f32, op.shape};
}

Values evaluate(const ResizeOp& op, std::span<const Values> inputs) {
  Values result = inputs[0];
  for (size_t d = 0; d < op.shape.size(); ++d)
    if (op.shape[d] != result.shape[d]) result = resize_axis(op, d, result);
  return result;
}

Tensor lower(const ResizeOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  Tensor result = operands[0];
  for (size_t d = 0; d < op.shape.size(); ++d)
    if (op.shape[d] != result->shape[d]) result = lower_axis(op, d, builder, result);
  if (result != operands[0]) return result;
  const std::vector<Axis> axes = axes_of(result);
  return builder.compute("copy", axes, load(result, indices(axes)));
}

Result<ResizeOp> import_resize(OnnxNode& node) {
  ResizeOp op;
  const bool first_form = node.operator_set() < 11;
  LATHE_TRY_STATUS(read_modes(node, op));
  if (first_form) {
    op.coordinates = CoordinateMode::asymmetric;
    op.nearest = NearestMode::floor;
  }
  for (const char* name : {"cubic_coeff_a", "extrapolation_value"}) node.real(name, 0);  // of other modes
  for (const char* name : {"exclude_outside", "antialias"})
    LATHE_TRY_STATUS(require_attribute(name, static_cast<double>(node.integer(name, 0)), 0));
  const Shape& shape = node.shape(0);
  const size_t scales_input = first_form ? 1 : 2;
  if (node.has_input(3)) {
    LATHE_TRY(op.shape, node.constant_integers(3));
  } else if (node.has_input(scales_input)) {
    LATHE_TRY(const std::vector<double> scales, node.constant_reals(scales_input));
    LATHE_TRY(op.shape, scaled_shape(shape, scales));
  } else {
    return fail(ErrorKind::invalid_argument, "it has neither sizes nor scales");
  }
  return op;
}

Result<ResizeOp> import_upsample(OnnxNode& node) {
  ResizeOp op;
  LATHE_TRY_STATUS(read_modes(node, op));
  op.coordinates = CoordinateMode::asymmetric;
  op.nearest = NearestMode::floor;
  std::vector<double> scales = node.reals("scales");
  if (scales.empty()) {
    if (!node.has_input(1)) return fail(ErrorKind::invalid_argument, "it has no scales");
    LATHE_TRY(scales, node.constant_reals(1));
  }
  LATHE_TRY(op.shape, scaled_shape(node.shape(0), scales));
  return op;
}

}  // namespace lathe
