#include "graph/onnx/nodes/resample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lathe {
namespace {

constexpr size_t kRegion = 1;  // the input

struct Sampling {
  std::string mode, coordinates, nearest;
  double cubic = -0.75;        // the coefficient a of Keys' kernel
  double extrapolation = 0;    // beyond the operand, of a region alone
  bool antialias = false;      // kernels as wide as a place of the result is in the operand
  bool keeps_inside = false;   // what lies outside has no weight, in place of the outermost element
  std::vector<double> region;  // where each axis begins, and behind these where it ends, as shares of it
};

struct AxisExtents {
  int64_t from = 1;
  int64_t to = 1;
  double scale = 1;
  double begin = 0;  // of the region
  double end = 1;
};

// For each place of the result as many places of the operand with their weights, and whether it has any.
struct Taps {
  int64_t count = 0;
  Shape places;
  std::vector<double> weights;
  std::vector<double> are_inside;
};

bool is_of_region(const Sampling& op) { return op.coordinates == "tf_crop_and_resize"; }

// Where place y of the result lies in the operand.
double coordinate(const Sampling& op, const AxisExtents& axis, double y) {
  const auto last = static_cast<double>(axis.from - 1);
  const auto to = static_cast<double>(axis.to);
  if (op.coordinates == "asymmetric") return y / axis.scale;
  if (op.coordinates == "align_corners") {
    const double scaled = static_cast<double>(axis.from) * axis.scale;
    const bool is_whole = std::abs(scaled - to) <= 1e-6 * to;
    return axis.to == 1 ? 0 : y * last / ((is_whole ? to : scaled) - 1);
  }
  if (op.coordinates == "pytorch_half_pixel" && axis.to == 1) return 0;
  if (is_of_region(op)) {
    if (axis.to == 1) return (axis.begin + axis.end) * last / 2;
    return (axis.begin + y * (axis.end - axis.begin) / (to - 1)) * last;
  }
  const double middle = (y + 0.5) / axis.scale - 0.5;
  if (op.coordinates != "half_pixel_symmetric") return middle;
  const auto from = static_cast<double>(axis.from);
  return from / 2 * (1 - to / (axis.scale * from)) + middle;
}

double kernel(const Sampling& op, double distance) {
  const double x = std::abs(distance), a = op.cubic;
  if (op.mode == "linear") return std::max(0.0, 1 - x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

double nearest_place(const Sampling& op, double at) {
  if (op.nearest == "floor") return std::floor(at);
  if (op.nearest == "ceil") return std::ceil(at);
  return op.nearest == "round_prefer_ceil" ? std::floor(at + 0.5) : std::ceil(at - 0.5);
}

// How many places on either side have a weight, and what one of these is to the kernel.
struct Window {
  int64_t reach = 1;
  double step = 1;
};

Window window_of(const Sampling& op, const AxisExtents& axis) {
  const double step = op.antialias ? std::min(axis.scale, 1.0) : 1;
  return {static_cast<int64_t>(std::ceil((op.mode == "linear" ? 1 : 2) / step)), step};
}

void add_tap(const AxisExtents& axis, int64_t place, double weight, Taps& taps) {
  taps.places.push_back(std::clamp<int64_t>(place, 0, axis.from - 1));
  taps.weights.push_back(weight);
}

// Weights that add up to 1 over those that count.
void add_window(const Sampling& op, const AxisExtents& axis, const Window& window, double at, Taps& taps) {
  const auto first = static_cast<int64_t>(std::floor(at)) - window.reach + 1;
  double sum = 0;
  for (int64_t i = 0; i < taps.count; ++i) {
    const int64_t place = first + i;
    const bool counts = !op.keeps_inside || (place >= 0 && place < axis.from);
    add_tap(axis, place, counts ? kernel(op, window.step * (static_cast<double>(place) - at)) : 0, taps);
    sum += taps.weights.back();
  }
  for (auto weight = taps.weights.end() - taps.count; weight != taps.weights.end(); ++weight) *weight /= sum;
}

Taps taps_of(const Sampling& op, const AxisExtents& axis) {
  const Window window = window_of(op, axis);
  Taps taps;
  taps.count = op.mode == "nearest" ? 1 : 2 * window.reach;
  for (int64_t y = 0; y < axis.to; ++y) {
    const double at = coordinate(op, axis, static_cast<double>(y));
    const bool is_outside = is_of_region(op) && (at < 0 || at > static_cast<double>(axis.from - 1));
    taps.are_inside.push_back(is_outside ? 0 : 1);
    if (op.mode == "nearest") {
      add_tap(axis, is_outside ? 0 : static_cast<int64_t>(nearest_place(op, at)), 1.0, taps);
    } else {
      add_window(op, axis, window, is_outside ? 0 : at, taps);
    }
  }
  return taps;
}

// One axis resampled; gives the number of what it added.
size_t resample_axis(const Sampling& op, const AxisExtents& axis, size_t d, size_t rank, size_t x,
                     StepList& steps) {
  const Taps taps = taps_of(op, axis);
  const auto behind = [&](Shape shape) {
    shape.insert(shape.end(), rank - 1 - d, 1);
    return shape;
  };
  const bool is_weighted = op.mode != "nearest";
  const Shape all = {axis.to, taps.count};
  size_t result =
      steps.add(GatherByOp{d}, {x, steps.integers(is_weighted ? all : Shape{axis.to}, taps.places)});
  if (is_weighted) {
    const size_t weights = steps.constant(DType::f32, behind(all), taps.weights);
    ReduceOp sum;
    sum.axes = {d + 1};
    sum.keeps_axes = false;
    result = steps.add(sum, {steps.add(ZipOp{ZipFunction::mul}, {result, weights})});
  }
  if (std::ranges::find(taps.are_inside, 0) == taps.are_inside.end()) return result;
  const size_t inside = steps.constant(DType::boolean, behind({axis.to}), taps.are_inside);
  return steps.add(WhereOp{}, {inside, result, steps.real(op.extrapolation)});
}

Status check(const char* name, const std::string& value, std::initializer_list<const char*> supported) {
  if (std::ranges::find(supported, value) != supported.end()) return {};
  std::string all;
  for (const char* one : supported) all += all.empty() ? one : std::string(", ") + one;
  return fail(ErrorKind::unsupported,
              fmt::format("attribute '{}' is '{}', and Lathe supports {}", name, value, all));
}

// The region of the axes that are resized, and the whole of all others.
Status read_region(OnnxNode& node, Sampling& op) {
  const size_t rank = node.shape(0).size();
  op.region.assign(rank, 0);
  op.region.resize(2 * rank, 1);
  if (!is_of_region(op)) return {};
  Shape axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  axes = node.integers("axes", axes);
  if (!node.has_input(kRegion))
    return fail(ErrorKind::invalid_argument, "it has no region of the operand to take");
  LATHE_TRY(const std::vector<double> given, node.constant_reals(kRegion));
  if (given.size() != 2 * axes.size()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("its region has {} numbers for {} axes", given.size(), axes.size()));
  }
  constexpr double kFarthest = 1 << 20;  // of a region's ends, in extents of the operand
  if (!std::ranges::all_of(given, [](double end) { return std::abs(end) <= kFarthest; }))
    return fail(ErrorKind::unsupported, "its region has an end that Lathe does not support");
  for (size_t i = 0; i < axes.size(); ++i) {
    LATHE_TRY(const size_t axis, axis_of(axes[i], rank));
    op.region[axis] = given[i];
    op.region[rank + axis] = given[axes.size() + i];
  }
  return {};
}

Result<Sampling> read_sampling(OnnxNode& node) {
  Sampling op;
  op.mode = node.text("mode", "nearest");
  op.coordinates = node.text("coordinate_transformation_mode", "half_pixel");
  op.nearest = node.text("nearest_mode", "round_prefer_floor");
  op.cubic = node.real("cubic_coeff_a", op.cubic);
  op.extrapolation = node.real("extrapolation_value", 0);
  op.antialias = node.integer("antialias", 0) != 0;
  op.keeps_inside = node.integer("exclude_outside", 0) != 0;
  LATHE_TRY_STATUS(check("mode", op.mode, {"nearest", "linear", "cubic"}));
  LATHE_TRY_STATUS(check("coordinate_transformation_mode", op.coordinates,
                         {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "asymmetric",
                          "align_corners", "tf_crop_and_resize"}));
  LATHE_TRY_STATUS(
      check("nearest_mode", op.nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  LATHE_TRY_STATUS(read_region(node, op));
  return op;
}

// What ResizeOp does not have.
bool goes_by_weights(const Sampling& op) {
  return op.mode == "cubic" || is_of_region(op) || op.coordinates == "half_pixel_symmetric" ||
         (op.mode == "linear" && (op.antialias || op.keeps_inside));
}

// The operators of a node whose axes are resampled one after the other; `data` is the step of what it reads.
Status add_weighted(const Sampling& op, OnnxNode& node, size_t data, StepList& steps) {
  const bool is_weighted = op.mode != "nearest";
  if (is_weighted && data == 0) LATHE_TRY_STATUS(require_f32(std::vector<TensorType>{node.type(0)}));
  ResizeOp extents;
  LATHE_TRY_STATUS(read_extents(node, extents));
  const Shape& shape = node.shape(0);
  if (extents.shape.size() != shape.size()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} does not become {}", to_string(shape), to_string(extents.shape)));
  }
  size_t result = data;
  for (size_t d = shape.size(); d-- > 0;) {
    const AxisExtents axis = {shape[d], extents.shape[d], extents.scales[d], op.region[d],
                              op.region[shape.size() + d]};
    const bool stays = axis.to == axis.from && axis.scale == 1 && axis.begin == 0 && axis.end == 1;
    constexpr int64_t kMostPlaces = int64_t{1} << 24;
    if (axis.to < 1 || std::max(axis.from, axis.to) >= kMostPlaces) {
      return fail(ErrorKind::unsupported,
                  fmt::format("axis {} of {} has none or too many places", d, to_string(extents.shape)));
    }
    if (stays) continue;
    constexpr int64_t kMostTaps = int64_t{1} << 24;
    if (2 * window_of(op, axis).reach > kMostTaps / axis.to) {
      return fail(ErrorKind::unsupported,
                  fmt::format("axis {} of {} becomes {} places of too many each", d, axis.from, axis.to));
    }
    result = resample_axis(op, axis, d, shape.size(), result, steps);
  }
  if (result == data) steps.add(IdentityOp{}, {data});
  return {};
}

}  // namespace

ImportedOutputs import_resize_outputs(OnnxNode& node) {
  LATHE_TRY(const Sampling op, read_sampling(node));
  const DType dtype = node.type(0).dtype;
  const bool is_narrow = op.mode != "nearest" && (dtype == DType::i8 || dtype == DType::u8);
  StepList steps(1);  // sizes and scales are no operands
  const size_t data = is_narrow ? steps.add(CastOp{DType::f32}, {0}) : 0;
  if (goes_by_weights(op)) {
    LATHE_TRY_STATUS(add_weighted(op, node, data, steps));
  } else {
    LATHE_TRY(const ResizeOp plain, import_resize(node));
    steps.add(plain, {data});
  }
  // What lies between two integers is cut off, as in ONNX Runtime.
  std::vector<ImportedStep> all = steps.finish();
  if (is_narrow) all.push_back({GraphOp(CastOp{dtype}), {all.size()}});
  return std::vector<ImportedOutput>{std::move(all)};
}

}  // namespace lathe
