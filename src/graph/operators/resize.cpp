#include "graph/operators/resize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "graph/onnx/node.h"
#include "ops/axes.h"

namespace lathe {
namespace {

ResizedAxis axis_of_resize(const ResizeOp& op, size_t d, int64_t from) {
  return {from, op.shape[d], op.scales[d]};
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

// The element of a result's place by one piece.
template <class Element>
Expr nearest(const Coordinate& at, const Var& y, int64_t from, int64_t to, Element element) {
  return within(floor_div(numerator(at, y), at.divisor), from, place_of(at, 0), place_of(at, to - 1),
                element);
}

// Whether some place of the result lies on one of the operand, so that the one behind it has no share.
bool meets_places(const Coordinate& at, int64_t to) {
  for (int64_t y = 0; y < to; ++y)
    if ((at.scale * y + at.shift) % at.divisor == 0) return true;
  return false;
}

// A number of the parts that the whole of two weights has.
struct Parts {
  Affine share;
  int64_t whole = 1;
};

// The share of the place behind, in parts of which f32 holds every number: with weights that add up to 1 a
// multiply-add of equal numbers is that number, and so overflows only where the result does.
Parts share_of(const Coordinate& at, const Var& y) {
  constexpr int64_t kWhole = int64_t{1} << 24;
  const Affine rest = modulo(numerator(at, y), at.divisor);
  const int64_t common = std::gcd(std::gcd(at.scale, at.shift), at.divisor);
  const int64_t divisor = at.divisor / common;
  if (divisor <= kWhole && std::has_single_bit(static_cast<uint64_t>(divisor)))
    return {floor_div(rest, common), divisor};
  return {floor_div(rest * kWhole + Affine(at.divisor / 2), at.divisor), kWhole};
}

// What the two places around one of the result's count for.
struct Weights {
  Expr first;
  Expr next;
};

Weights weights_of(const Coordinate& at, const Var& y) {
  const auto [parts, whole] = share_of(at, y);
  const Expr unit = literal({DType::f32}, 1 / static_cast<double>(whole));
  return {cast({DType::f32}, Expr(Affine(whole) - parts)) * unit, cast({DType::f32}, Expr(parts)) * unit};
}

// The weighted sum of the two places, which overflows only where the result does; an infinity or a NaN
// without a share counts for nothing.
template <class Element>
Expr blended(const Coordinate& at, const Var& y, int64_t from, int64_t to, Element element) {
  const Affine place = floor_div(numerator(at, y), at.divisor);
  const int64_t least = place_of(at, 0);
  const int64_t most = place_of(at, to - 1);
  const Affine rest = modulo(numerator(at, y), at.divisor);
  const Weights weights = weights_of(at, y);
  const Expr first = within(place, from, least, most, element) * weights.first;
  Expr next = within(place + Affine(1), from, least + 1, most + 1, element) * weights.next;
  if (meets_places(at, to)) next = select(Expr(rest) == Expr(int64_t{0}), literal({DType::f32}, 0), next);
  return first + next;
}

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
  const ResizedAxis axis = axis_of_resize(op, d, from);
  if (op.mode == ResizeMode::linear) {
    const Coordinate at = *linear_coordinate(op.coordinates, axis);
    return builder.compute(builder.fresh_name("resized"), axes, blended(at, y, from, to, element));
  }
  const std::vector<CoordinatePiece> pieces = *nearest_places(op.coordinates, op.nearest, axis);
  Expr body = nearest(pieces.back().at, y, from, to, element);
  for (size_t i = pieces.size() - 1; i-- > 0;)
    body = select(Expr(y) < Expr(pieces[i + 1].begin), nearest(pieces[i].at, y, from, to, element), body);
  return builder.compute(builder.fresh_name("resized"), axes, body);
}

// The weights where places beyond the operand are its first or last one, as ONNX Runtime has them: behind the
// last place both are one half.
Weights weights_within(const Coordinate& at, const Var& y, int64_t from, int64_t to) {
  const Expr half = literal({DType::f32}, 0.5);
  if (from == 1) return {half, half};
  const Expr place = floor_div(numerator(at, y), at.divisor);
  auto [first, next] = weights_of(at, y);
  if (place_of(at, 0) < 0) {
    const Expr is_before = place < Expr(int64_t{0});
    first = select(is_before, literal({DType::f32}, 1), first);
    next = select(is_before, literal({DType::f32}, 0), next);
  }
  if (place_of(at, to - 1) >= from - 1) {
    const Expr has_next = place < Expr(from - 1);
    first = select(has_next, first, half);
    next = select(has_next, next, half);
  }
  return {first, next};
}

// A product rounded by itself: a sum fuses with a product alone, not with the smaller one of it and infinity.
Expr rounded(const Expr& product) {
  return min(product, literal({DType::f32}, std::numeric_limits<double>::infinity()));
}

// The last two axes resampled at once, the products added from the first row's first place on.
Tensor lower_images(const ResizeOp& op, DagBuilder& builder, const Tensor& image) {
  const std::vector<Axis> axes = axes_of(Tensor("resized", op.shape));
  const size_t d = axes.size() - 2;
  Coordinate at[2];
  Weights weights[2];
  for (size_t i = 0; i < 2; ++i) {
    const ResizedAxis axis = axis_of_resize(op, d + i, image->shape[d + i]);
    at[i] = *linear_coordinate(op.coordinates, axis);
    weights[i] = weights_within(at[i], axes[d + i].var, axis.from, axis.to);
  }
  // f(the operand's place, so many behind that of the result's along one of the two axes).
  const auto beside = [&](size_t i, int64_t behind, const auto& f) {
    const Affine place = floor_div(numerator(at[i], axes[d + i].var), at[i].divisor) + Affine(behind);
    return within(place, image->shape[d + i], place_of(at[i], 0) + behind,
                  place_of(at[i], op.shape[d + i] - 1) + behind, f);
  };
  Expr sum;
  for (int64_t row = 0; row < 2; ++row) {
    for (int64_t column = 0; column < 2; ++column) {
      const Expr element = beside(0, row, [&](const Affine& y) {
        return beside(1, column, [&](const Affine& x) {
          std::vector<Affine> index = indices(axes);
          index[d] = y;
          index[d + 1] = x;
          return load(image, index);
        });
      });
      const Expr weight = (column == 0 ? weights[1].first : weights[1].next) *
                          (row == 0 ? weights[0].first : weights[0].next);
      const Expr product = rounded(weight * element);
      sum = sum.defined() ? sum + product : product;
    }
  }
  return builder.compute(builder.fresh_name("resized"), axes, sum);
}

// The operand's place for each of the result's, and the share of the one behind it.
std::vector<std::pair<int64_t, double>> sources_of(const ResizeOp& op, const ResizedAxis& axis) {
  std::vector<std::pair<int64_t, double>> sources;
  if (op.mode != ResizeMode::nearest) {
    const Coordinate at = *linear_coordinate(op.coordinates, axis);
    for (int64_t y = 0; y < axis.to; ++y) {
      const int64_t place = place_of(at, y);
      const auto rest = static_cast<double>(at.scale * y + at.shift - place * at.divisor);
      sources.emplace_back(place, rest / static_cast<double>(at.divisor));
    }
    return sources;
  }
  const std::vector<CoordinatePiece> pieces = *nearest_places(op.coordinates, op.nearest, axis);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const int64_t end = i + 1 < pieces.size() ? pieces[i + 1].begin : axis.to;
    for (int64_t y = pieces[i].begin; y < end; ++y) sources.emplace_back(place_of(pieces[i].at, y), 0.0);
  }
  return sources;
}

// One axis of values resampled.
Values resize_axis(const ResizeOp& op, size_t d, const Values& x) {
  const int64_t from = x.shape[d];
  const auto sources = sources_of(op, axis_of_resize(op, d, from));
  Values result{x.shape, {}};
  result.shape[d] = op.shape[d];
  Shape index(x.shape.size(), 0);
  do {
    const auto& [place, share] = sources[static_cast<size_t>(index[d])];
    const auto element = [&](int64_t p) {
      Shape source = index;
      source[d] = std::clamp<int64_t>(p, 0, from - 1);
      return x.data[static_cast<size_t>(broadcast_offset(x.shape, source))];
    };
    result.data.push_back(share == 0 ? element(place)
                                     : element(place) * (1 - share) + element(place + 1) * share);
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
  if (mode != "nearest" && mode != "linear") return unsupported("mode", mode, "nearest, linear and cubic");
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

// The scales, and the shape that they give: whole places of the product in f32, as ONNX Runtime counts them.
Status set_scales(ResizeOp& op, const Shape& shape, const std::vector<double>& scales) {
  if (scales.size() != shape.size()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("it has {} scales for {} axes", scales.size(), shape.size()));
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    const auto scale = static_cast<float>(scales[d]);
    const float places = scale * static_cast<float>(shape[d]);
    if (!(places >= 1 && places < 1e9F)) {
      return fail(ErrorKind::unsupported,
                  fmt::format("the scale {} of axis {}, which has {} places, gives no number of them that "
                              "Lathe supports",
                              scales[d], d, shape[d]));
    }
    op.scales.push_back(scale);
    op.shape.push_back(static_cast<int64_t>(places));
  }
  return {};
}

// Whether corners are aligned by the places that there are where scales give no whole number of them, as in
// the program that wrote the model; else by scaled extents, as in ONNX's tests (docs/onnx.md).
bool aligns_whole_places(OnnxNode& node) {
  const bool is_by_text = node.producer() == "pytorch" || node.producer() == "onnx.quantize";
  return is_by_text && node.text("coordinate_transformation_mode", "half_pixel") == "align_corners";
}

void set_scales_of_shape(ResizeOp& op, const Shape& shape) {
  op.scales.clear();
  for (size_t d = 0; d < std::min(shape.size(), op.shape.size()); ++d)
    op.scales.push_back(static_cast<float>(op.shape[d]) / static_cast<float>(shape[d]));
}

// Numbers that are given for all axes, or for those that the attribute 'axes' names; `rest` is for the
// others.
template <class Number>
Result<std::vector<Number>> along_every_axis(OnnxNode& node, const char* what, std::vector<Number> given,
                                             std::vector<Number> rest) {
  if (!node.has("axes")) return given;
  const Shape axes = node.integers("axes", {});
  if (given.size() != axes.size()) {
    return fail(ErrorKind::invalid_argument, fmt::format("it has {} {} for the {} axes of attribute 'axes'",
                                                         given.size(), what, axes.size()));
  }
  LATHE_TRY_STATUS(axes_of_list(axes, rest.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    LATHE_TRY(const size_t axis, axis_of(axes[i], rest.size()));
    rest[axis] = given[i];
  }
  return rest;
}

// One scale for the axes that are resized: the least of their own, or the largest.
Status keep_aspect_ratio(OnnxNode& node, ResizeOp& op, const Shape& shape) {
  const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || op.shape.size() != shape.size()) return {};
  if (policy != "not_larger" && policy != "not_smaller") {
    return fail(ErrorKind::unsupported,
                fmt::format("attribute 'keep_aspect_ratio_policy' is '{}', and Lathe supports stretch, "
                            "not_larger and not_smaller",
                            policy));
  }
  std::vector<size_t> axes = axes_from(0, shape.size());
  if (node.has("axes")) {
    LATHE_TRY(axes, axes_of_list(node.integers("axes", {}), shape.size()));
  }
  const auto less = [&](size_t a, size_t b) { return op.scales[a] < op.scales[b]; };
  const auto chosen =
      policy == "not_larger" ? std::ranges::min_element(axes, less) : std::ranges::max_element(axes, less);
  if (chosen == axes.end()) return {};
  const float scale = op.scales[*chosen];
  for (const size_t axis : axes) {
    op.scales[axis] = scale;
    op.shape[axis] = static_cast<int64_t>(std::floor(scale * static_cast<float>(shape[axis]) + 0.5F));
  }
  return {};
}

// An axis is left as it is where nothing moves, or where ONNX Runtime copies the whole tensor.
bool stays(const ResizeOp& op, size_t d, const Shape& shape) {
  return op.shape == shape || (op.shape[d] == shape[d] && op.scales[d] == 1);
}

bool has_places(const ResizeOp& op, const ResizedAxis& axis) {
  return op.mode != ResizeMode::nearest ? linear_coordinate(op.coordinates, axis).has_value()
                                        : nearest_places(op.coordinates, op.nearest, axis).has_value();
}

}  // namespace

bool resizes_images(const ResizeOp& op, const Shape& operand) {
  const size_t rank = operand.size();
  if (rank != 2 && rank != 4) return false;
  if (op.shape == operand) return false;  // nothing is rounded
  for (size_t d = 0; d + 2 < rank; ++d)
    if (!stays(op, d, operand)) return false;
  return true;
}

std::string attributes_of(const ResizeOp& op) {
  constexpr const char* kCoordinates[] = {"half pixel", "half pixel or first", "asymmetric", "align corners"};
  constexpr const char* kNearest[] = {"round prefer floor", "round prefer ceil", "floor", "ceil",
                                      "floor or ceil"};
  constexpr const char* kModes[] = {"", "linear", "linear as ONNX Runtime rounds"};
  const bool is_nearest = op.mode == ResizeMode::nearest;
  return fmt::format(
      "to {} by [{}], {}, {}", to_string(op.shape), fmt::join(op.scales, ","),
      kCoordinates[static_cast<size_t>(op.coordinates)],
      is_nearest ? kNearest[static_cast<size_t>(op.nearest)] : kModes[static_cast<size_t>(op.mode)]);
}

Result<TensorType> infer(const ResizeOp& op, std::span<const TensorType> inputs) {
  if (op.mode != ResizeMode::nearest) LATHE_TRY_STATUS(require_f32(inputs));
  const Shape& shape = inputs[0].shape;
  if (op.shape.size() != shape.size() || op.scales.size() != shape.size()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} does not become {}", to_string(shape), to_string(op.shape)));
  }
  if (op.mode == ResizeMode::runtime_bilinear && !resizes_images(op, shape))
    return fail(ErrorKind::invalid_argument, fmt::format("{} is no image to be resized", to_string(shape)));
  for (size_t d = 0; d < shape.size(); ++d) {
    // f32 counts no further.
    if (std::max(shape[d], op.shape[d]) >= int64_t{1} << 24)
      return fail(ErrorKind::unsupported, fmt::format("axis {} of {} is too large", d, to_string(op.shape)));
    if (op.shape[d] < 1 || stays(op, d, shape) || has_places(op, axis_of_resize(op, d, shape[d]))) continue;
    return fail(
        ErrorKind::unsupported,
        fmt::format("by the scale {} of axis {}, which has {} places, no fraction that Lathe supports "
                    "finds its places",
                    op.scales[d], d, shape[d]));
  }
  return TensorType{inputs[0].dtype, op.shape};
}

Values evaluate(const ResizeOp& op, std::span<const Values> inputs) {
  Values result = inputs[0];
  for (size_t d = 0; d < op.shape.size(); ++d)
    if (!stays(op, d, inputs[0].shape)) result = resize_axis(op, d, result);
  return result;
}

Tensor lower(const ResizeOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  if (op.mode == ResizeMode::runtime_bilinear) return lower_images(op, builder, operands[0]);
  Tensor result = operands[0];
  for (size_t d = 0; d < op.shape.size(); ++d)
    if (!stays(op, d, operands[0]->shape)) result = lower_axis(op, d, builder, result);
  if (result != operands[0]) return result;
  const std::vector<Axis> axes = axes_of(result);
  return builder.compute("copy", axes, load(result, indices(axes)));
}

Status read_extents(OnnxNode& node, ResizeOp& op) {
  node.text("keep_aspect_ratio_policy", "stretch");  // of sizes
  const Shape& shape = node.shape(0);
  const size_t scales_input = node.operator_set() < 11 ? 1 : 2;
  if (node.has_input(3)) {
    LATHE_TRY(Shape sizes, node.constant_integers(3));
    LATHE_TRY(sizes, along_every_axis(node, "sizes", std::move(sizes), shape));
    op.shape = std::move(sizes);
    set_scales_of_shape(op, shape);
    return keep_aspect_ratio(node, op, shape);
  }
  if (!node.has_input(scales_input))
    return fail(ErrorKind::invalid_argument, "it has neither sizes nor scales");
  LATHE_TRY(std::vector<double> scales, node.constant_reals(scales_input));
  LATHE_TRY(scales,
            along_every_axis(node, "scales", std::move(scales), std::vector<double>(shape.size(), 1)));
  LATHE_TRY_STATUS(set_scales(op, shape, scales));
  if (aligns_whole_places(node)) set_scales_of_shape(op, shape);
  return {};
}

Result<ResizeOp> import_resize(OnnxNode& node) {
  ResizeOp op;
  LATHE_TRY_STATUS(read_modes(node, op));
  if (node.operator_set() < 11) {
    op.coordinates = CoordinateMode::asymmetric;
    op.nearest = NearestMode::floor_or_ceil;
  }
  for (const char* name : {"cubic_coeff_a", "extrapolation_value"}) node.real(name, 0);  // of other modes
  for (const char* name : {"exclude_outside", "antialias"}) node.integer(name, 0);
  LATHE_TRY_STATUS(read_extents(node, op));
  return op;
}

Result<ResizeOp> import_upsample(OnnxNode& node) {
  ResizeOp op;
  LATHE_TRY_STATUS(read_modes(node, op));
  op.coordinates = CoordinateMode::asymmetric;
  op.nearest = NearestMode::floor_or_ceil;
  std::vector<double> scales = node.reals("scales");
  if (scales.empty()) {
    if (!node.has_input(1)) return fail(ErrorKind::invalid_argument, "it has no scales");
    LATHE_TRY(scales, node.constant_reals(1));
  }
  LATHE_TRY_STATUS(set_scales(op, node.shape(0), scales));
  return op;
}

}  // namespace lathe
