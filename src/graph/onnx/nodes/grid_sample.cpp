#include "graph/onnx/nodes/grid_sample.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace lathe {
namespace {

enum class Interpolation { nearest, linear, cubic };
enum class Padding { zeros, border, reflection };

struct GridSample {
  Interpolation mode = Interpolation::linear;
  Padding padding = Padding::zeros;
  bool align_corners = false;
  Shape spatial;  // of x
  Shape places;   // of the grid, behind N
};

constexpr size_t kImage = 0, kGrid = 1;

Result<GridSample> read_grid_sample(OnnxNode& node) {
  const Shape &image = node.shape(kImage), &grid = node.shape(kGrid);
  constexpr size_t kLeastRank = 3, kMostRank = 5;
  const bool fit = image.size() >= kLeastRank && image.size() <= kMostRank && grid.size() == image.size() &&
                   grid[0] == image[0] && grid.back() == static_cast<int64_t>(image.size()) - 2;
  if (!fit) {
    return fail(ErrorKind::invalid_argument, fmt::format("its image {} and grid {} do not fit together",
                                                         to_string(image), to_string(grid)));
  }
  for (const size_t operand : {kImage, kGrid})
    LATHE_TRY_STATUS(
        require_type(node.type(operand), operand, node.type(operand).dtype == DType::f32, "f32"));
  GridSample result;
  result.spatial.assign(image.begin() + 2, image.end());
  result.places.assign(grid.begin() + 1, grid.end() - 1);
  result.align_corners = node.integer("align_corners", 0) != 0;
  const std::string mode = node.text("mode", "linear"), padding = node.text("padding_mode", "zeros");
  if (mode == "nearest")
    result.mode = Interpolation::nearest;
  else if (mode == "cubic" || mode == "bicubic")
    result.mode = Interpolation::cubic;
  else if (mode != "linear" && mode != "bilinear")
    return fail(ErrorKind::invalid_argument,
                fmt::format("attribute 'mode' is '{}', and must be linear, nearest or cubic", mode));
  if (padding == "border")
    result.padding = Padding::border;
  else if (padding == "reflection")
    result.padding = Padding::reflection;
  else if (padding != "zeros")
    return fail(
        ErrorKind::invalid_argument,
        fmt::format("attribute 'padding_mode' is '{}', and must be zeros, border or reflection", padding));
  return result;
}

// Along one axis, a place that counts: its number, within the axis, and its weight.
struct Tap {
  size_t place = 0;
  std::optional<size_t> weight;  // none: 1
};

class GridSteps {
 public:
  GridSteps(const OnnxNode& node, const GridSample& op) : node_(node), op_(op), steps_(node.input_count()) {}

  std::vector<ImportedOutput> run() {
    std::vector<std::vector<Tap>> taps;
    for (size_t axis = 0; axis < op_.spatial.size(); ++axis) taps.push_back(taps_of(axis));
    const size_t rows = rows_of_image();
    std::optional<size_t> sum;
    std::vector<size_t> chosen(taps.size(), 0);
    do {
      const size_t term = weighted_row(rows, taps, chosen);
      sum = sum ? zip(ZipFunction::add, *sum, term) : term;
    } while (next(chosen, taps));
    TransposeOp channels_first;
    const size_t rank = op_.spatial.size() + 2;
    channels_first.order = {0, rank - 1};
    for (size_t axis = 1; axis + 1 < rank; ++axis) channels_first.order.push_back(axis);
    steps_.add(channels_first, {*sum});
    return {steps_.finish()};
  }

 private:
  size_t zip(ZipFunction function, size_t a, size_t b) { return steps_.add(ZipOp{function}, {a, b}); }
  size_t zip(ZipFunction function, size_t a, double b) { return zip(function, a, steps_.real(b)); }
  size_t map(MapFunction function, size_t x) { return steps_.add(MapOp{function}, {x}); }
  size_t whole(int64_t value) { return steps_.constant(places_type(), {}, {static_cast<double>(value)}); }

  DType places_type() const {
    const int64_t rows = elements_of(op_.spatial) * node_.shape(kImage)[0];
    return rows <= std::numeric_limits<int32_t>::max() ? DType::i32 : DType::i64;
  }

  // [N, places..], in elements of the axis from its first one's middle on.
  size_t coordinate(size_t axis) {
    const Shape& grid = node_.shape(kGrid);
    SliceOp slice{Shape(grid.size(), 0), Shape(grid.size(), 1), grid};
    slice.starts.back() = static_cast<int64_t>(op_.spatial.size() - 1 - axis);
    slice.extents.back() = 1;
    const size_t given =
        steps_.add(ReshapeOp{Shape(grid.begin(), grid.end() - 1)}, {steps_.add(slice, {kGrid})});
    const auto extent = static_cast<double>(op_.spatial[axis]);
    const size_t above = zip(ZipFunction::add, given, 1.0);
    if (op_.align_corners) return zip(ZipFunction::mul, above, (extent - 1) / 2);
    return zip(ZipFunction::sub, zip(ZipFunction::mul, above, extent / 2), 0.5);
  }

  // Back and forth between the outermost places, or half a place beyond them.
  size_t reflected(size_t x, size_t axis) {
    const auto extent = static_cast<double>(op_.spatial[axis]);
    const double low = op_.align_corners ? 0 : -0.5, span = op_.align_corners ? extent - 1 : extent;
    if (span == 0) return zip(ZipFunction::mul, x, 0.0);
    const size_t distance = map(MapFunction::abs, zip(ZipFunction::sub, x, low));
    const size_t rounds = map(MapFunction::floor, zip(ZipFunction::mul, distance, 1 / (2 * span)));
    const size_t rest = zip(ZipFunction::sub, distance, zip(ZipFunction::mul, rounds, 2 * span));
    const size_t back = zip(ZipFunction::sub, steps_.real(2 * span), rest);
    return zip(ZipFunction::add, zip(ZipFunction::min, rest, back), low);
  }

  size_t held(size_t x, size_t axis) {
    return steps_.add(MapOp{MapFunction::clip, 0, static_cast<double>(op_.spatial[axis] - 1)}, {x});
  }

  // By the padding of a coordinate itself, which cubic interpolation does not have: PyTorch pads the places
  // around it alone.
  size_t padded(size_t x, size_t axis) {
    if (op_.padding == Padding::border) return held(x, axis);
    return op_.padding == Padding::reflection ? reflected(x, axis) : x;
  }

  // A whole number as a place of the axis; beyond it with weight 0 where zeros are padded.
  Tap tap(size_t x, std::optional<size_t> weight, size_t axis) {
    if (op_.padding == Padding::zeros) {
      const size_t inside = zip(ZipFunction::equal, x, held(x, axis));
      weight = steps_.add(WhereOp{}, {inside, weight.value_or(steps_.real(1)), steps_.real(0)});
    }
    const size_t place = op_.padding == Padding::reflection ? reflected(x, axis) : x;
    return {steps_.add(CastOp{places_type()}, {held(place, axis)}), weight};
  }

  std::vector<Tap> taps_of(size_t axis) {
    const size_t given = coordinate(axis);
    if (op_.mode == Interpolation::nearest)
      return {tap(padded(map(MapFunction::round, given), axis), std::nullopt, axis)};
    const bool is_cubic = op_.mode == Interpolation::cubic;
    const size_t x = is_cubic ? given : padded(given, axis);
    const size_t first = map(MapFunction::floor, x);
    const size_t share = zip(ZipFunction::sub, x, first);
    if (is_cubic) return cubic_taps(first, share, axis);
    const size_t rest = zip(ZipFunction::sub, steps_.real(1), share);
    return {tap(first, rest, axis), tap(zip(ZipFunction::add, first, 1.0), share, axis)};
  }

  // Keys' cubic convolution with a = -3/4 over the four places around.
  std::vector<Tap> cubic_taps(size_t first, size_t share, size_t axis) {
    constexpr double kA = -0.75;
    const auto polynomial = [&](size_t t, const std::array<double, 4>& coefficients) {
      size_t sum = zip(ZipFunction::mul, t, coefficients[0]);
      for (const size_t power : {1, 2}) {
        const size_t next =
            coefficients.at(power) == 0 ? sum : zip(ZipFunction::add, sum, coefficients.at(power));
        sum = zip(ZipFunction::mul, next, t);
      }
      return coefficients[3] == 0 ? sum : zip(ZipFunction::add, sum, coefficients[3]);
    };
    const size_t rest = zip(ZipFunction::sub, steps_.real(1), share);
    const auto near = [&](size_t t) { return polynomial(t, {kA + 2, -(kA + 3), 0, 1}); };
    const auto far = [&](size_t t) {  // of t + 1
      return polynomial(zip(ZipFunction::add, t, 1.0), {kA, -5 * kA, 8 * kA, -4 * kA});
    };
    std::vector<Tap> taps;
    const std::array<size_t, 4> weights{far(share), near(share), near(rest), far(rest)};
    for (size_t i = 0; i < weights.size(); ++i)
      taps.push_back(tap(zip(ZipFunction::add, first, static_cast<double>(i) - 1), weights.at(i), axis));
    return taps;
  }

  // [N x places of the image, C].
  size_t rows_of_image() {
    const Shape& image = node_.shape(kImage);
    TransposeOp channels_last;
    channels_last.order = {0};
    for (size_t axis = 2; axis < image.size(); ++axis) channels_last.order.push_back(axis);
    channels_last.order.push_back(1);
    return steps_.add(ReshapeOp{{image[0] * elements_of(op_.spatial), image[1]}},
                      {steps_.add(channels_last, {kImage})});
  }

  size_t weighted_row(size_t rows, const std::vector<std::vector<Tap>>& taps,
                      const std::vector<size_t>& chosen) {
    const int64_t batch = node_.shape(kImage)[0];
    std::vector<double> images;
    for (int64_t n = 0; n < batch; ++n) images.push_back(static_cast<double>(n));
    Shape along(op_.places.size() + 1, 1);
    along[0] = batch;
    size_t row = steps_.constant(places_type(), along, images);
    std::optional<size_t> weight;
    for (size_t axis = 0; axis < taps.size(); ++axis) {
      const Tap& tap = taps[axis][chosen[axis]];
      row = zip(ZipFunction::add, zip(ZipFunction::mul, row, whole(op_.spatial[axis])), tap.place);
      if (tap.weight) weight = weight ? zip(ZipFunction::mul, *weight, *tap.weight) : tap.weight;
    }
    const size_t found = steps_.add(GatherByOp{0}, {rows, row});
    if (!weight) return found;
    Shape wider{batch};
    wider.insert(wider.end(), op_.places.begin(), op_.places.end());
    wider.push_back(1);
    return zip(ZipFunction::mul, found, steps_.add(ReshapeOp{wider}, {*weight}));
  }

  static bool next(std::vector<size_t>& chosen, const std::vector<std::vector<Tap>>& taps) {
    for (size_t axis = chosen.size(); axis-- > 0;) {
      if (++chosen[axis] < taps[axis].size()) return true;
      chosen[axis] = 0;
    }
    return false;
  }

  const OnnxNode& node_;
  const GridSample& op_;
  StepList steps_;
};

}  // namespace

ImportedOutputs import_grid_sample(OnnxNode& node) {
  LATHE_TRY(const GridSample op, read_grid_sample(node));
  return GridSteps(node, op).run();
}

}  // namespace lathe
