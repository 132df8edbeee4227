#include "graph/onnx/nodes/sampled.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "graph/onnx/nodes/node_steps.h"

namespace lathe {
namespace {

// A place of an axis, i64, and how much it counts, f32: tensors of one shape.
struct Neighbour {
  size_t place = 0;
  size_t weight = 0;
};

class SampledSteps : public NodeSteps {
 public:
  using NodeSteps::NodeSteps;

  // The two places around a coordinate; those beyond the axis count for nothing.
  std::array<Neighbour, 2> neighbours(size_t coordinate, int64_t extent) {
    const size_t low = map(MapFunction::floor, coordinate);
    const size_t share = minus(coordinate, low);
    return {neighbour(low, minus(real(1), share), extent), neighbour(plus(low, real(1)), share, extent)};
  }

  // For each choice of a neighbour on every axis: `visit(row-major number of the place, weight)`.
  template <class Visit>
  void for_each_corner(const std::vector<std::array<Neighbour, 2>>& axes, const Shape& extents, Visit visit) {
    for (size_t corner = 0; corner < size_t{1} << axes.size(); ++corner) {
      std::optional<Neighbour> chosen;
      for (size_t d = 0; d < axes.size(); ++d) {
        const Neighbour& next = axes[d].at(corner >> (axes.size() - 1 - d) & 1);
        chosen = chosen ? Neighbour{plus(times(chosen->place, whole(extents[d])), next.place),
                                    times(chosen->weight, next.weight)}
                        : next;
      }
      visit(chosen->place, chosen->weight);
    }
  }

 private:
  Neighbour neighbour(size_t at, size_t weight, int64_t extent) {
    const size_t held = map(MapFunction::clip, at, 0, static_cast<double>(extent - 1));
    const size_t is_inside = zip(ZipFunction::equal, at, held);
    return {cast(DType::i64, held), where(is_inside, weight, real(0))};
  }
};

// What a RoiAlign node says, and the extents of what it reads.
struct RegionBins {
  Shape image;  // [N, C, H, W]
  int64_t regions = 1;
  Shape bins;           // along the image's rows and columns
  int64_t samples = 1;  // in a bin, along either
  double scale = 1;
  bool half_pixel = true;
  bool takes_mean = true;
};

Result<RegionBins> read_bins(OnnxNode& node) {
  RegionBins op;
  op.image = node.shape(0);
  const Shape &regions = node.shape(1), &images = node.shape(2);
  op.regions = regions.empty() ? 0 : regions[0];
  op.bins = {node.integer("output_height", 1), node.integer("output_width", 1)};
  op.samples = node.integer("sampling_ratio", 0);
  op.scale = node.real("spatial_scale", 1);
  const std::string mode = node.text("mode", "avg");
  const std::string coordinates = node.text("coordinate_transformation_mode",
                                            node.operator_set() < 16 ? "output_half_pixel" : "half_pixel");
  op.takes_mean = mode == "avg";
  op.half_pixel = coordinates == "half_pixel";
  if (op.samples < 1) {
    return fail(ErrorKind::unsupported,
                fmt::format("attribute 'sampling_ratio' is {}, by which the number of samples is known only "
                            "when the model runs, and Lathe supports one above 0",
                            op.samples));
  }
  constexpr int64_t kMostBins = int64_t{1} << 12;  // along an axis, with their samples
  if (std::min(op.bins[0], op.bins[1]) < 1 || std::max(op.bins[0], op.bins[1]) > kMostBins / op.samples) {
    return fail(ErrorKind::unsupported, fmt::format("its {} bins of {} samples are not 1 to {} along an axis",
                                                    to_string(op.bins), op.samples, kMostBins));
  }
  if (!op.half_pixel && coordinates != "output_half_pixel")
    return fail(ErrorKind::invalid_argument,
                fmt::format("attribute 'coordinate_transformation_mode' is '{}', and must be half_pixel or "
                            "output_half_pixel",
                            coordinates));
  if (!op.takes_mean && mode != "max")
    return fail(ErrorKind::invalid_argument,
                fmt::format("attribute 'mode' is '{}', and must be avg or max", mode));
  if (op.image.size() == 4 && regions == Shape{op.regions, 4} && images == Shape{op.regions}) return op;
  return fail(ErrorKind::invalid_argument,
              fmt::format("its data {}, regions {} and images {} are not [N, C, H, W], [R, 4] and [R]",
                          to_string(op.image), to_string(regions), to_string(images)));
}

class RegionSteps : public SampledSteps {
 public:
  RegionSteps(const OnnxNode& node, const RegionBins& op)
      : SampledSteps(node.input_count()), node_(node), op_(op) {}

  std::vector<ImportedOutput> run() {
    const int64_t rows = op_.bins[0] * op_.samples, columns = op_.bins[1] * op_.samples;
    const Shape &image = op_.image, shape{op_.regions, rows, columns};
    const bool is_wide = node_.type(kImages).dtype == DType::i64;
    const size_t images = reshape(is_wide ? kImages : cast(DType::i64, kImages), {op_.regions, 1, 1});
    const size_t first = times(images, whole(image[2] * image[3]));
    const size_t data = reshape(transpose(0, {0, 2, 3, 1}), {image[0] * image[2] * image[3], image[1]});
    const std::vector<std::array<Neighbour, 2>> axes{along(0, {op_.regions, rows, 1}),
                                                     along(1, {op_.regions, 1, columns})};
    std::optional<size_t> result;
    for_each_corner(axes, {image[2], image[3]}, [&](size_t place, size_t weight) {
      const size_t seen = gather(data, 0, plus(first, place));
      const size_t term = times(seen, reshape(weight, {op_.regions, rows, columns, 1}));
      result = result ? zip(op_.takes_mean ? ZipFunction::add : ZipFunction::max, *result, term) : term;
    });
    const size_t samples =
        reshape(*result, {op_.regions, op_.bins[0], op_.samples, op_.bins[1], op_.samples, image[1]});
    const size_t bins =
        reduce(op_.takes_mean ? ReduceFunction::mean : ReduceFunction::max, samples, {2, 4}, false);
    give(transpose(bins, {0, 3, 1, 2}));
    return outputs();
  }

 private:
  static constexpr size_t kRegions = 1, kImages = 2;

  // Of the image's rows (axis 0) or columns: the neighbours of all samples, in this shape.
  std::array<Neighbour, 2> along(size_t axis, const Shape& shape) {
    const int64_t bins = op_.bins[axis], extent = op_.image[axis + 2];
    const auto bound = [&](int64_t number) {
      const size_t given = reshape(part(kRegions, {op_.regions, 4}, 1, number, 1), {op_.regions, 1, 1});
      return minus(times(given, real(op_.scale)), real(op_.half_pixel ? 0.5 : 0));
    };
    const auto column = static_cast<int64_t>(1 - axis);  // of the regions: x before y
    const size_t begin = bound(column);
    size_t length = minus(bound(column + 2), begin);
    if (!op_.half_pixel) length = zip(ZipFunction::max, length, real(1));
    std::vector<double> shares;  // of a bin, up to each sample
    for (int64_t bin = 0; bin < bins; ++bin)
      for (int64_t sample = 0; sample < op_.samples; ++sample)
        shares.push_back(static_cast<double>(bin) +
                         (static_cast<double>(sample) + 0.5) / static_cast<double>(op_.samples));
    Shape line = shape;
    line[0] = 1;
    const size_t size = zip(ZipFunction::div, length, real(static_cast<double>(bins)));
    const size_t at = plus(begin, times(size, constant(DType::f32, line, shares)));
    // Up to a whole place beside the image counts as its outermost one, what lies further as nothing.
    const auto last = static_cast<double>(extent - 1);
    const size_t is_near = zip(ZipFunction::equal, at, map(MapFunction::clip, at, -1, last + 1));
    std::array<Neighbour, 2> result = neighbours(map(MapFunction::clip, at, 0, last), extent);
    for (Neighbour& one : result) one.weight = where(is_near, one.weight, real(0));
    return result;
  }

  const OnnxNode& node_;
  const RegionBins& op_;
};

// What a DeformConv node says, and the extents of what it reads.
struct MovedWindows {
  static constexpr size_t kWeight = 1, kOffsets = 2, kBias = 3, kMask = 4;
  SlidingWindow window;
  Shape image, weight, spatial, extents;
  int64_t groups = 1;
  int64_t offset_groups = 1;  // of channels that are read at the same coordinates
};

Result<MovedWindows> read_windows(OnnxNode& node) {
  MovedWindows op;
  op.image = node.shape(0);
  op.weight = node.shape(MovedWindows::kWeight);
  if (op.image.size() < 3 || op.weight.size() != op.image.size())
    return fail(ErrorKind::invalid_argument,
                "its data and weights are not of as many axes, of three or more");
  LATHE_TRY(op.window, import_window(node, Shape(op.weight.begin() + 2, op.weight.end())));
  op.spatial = Shape(op.image.begin() + 2, op.image.end());
  LATHE_TRY(op.extents, output_extents(op.window, op.spatial));
  op.groups = node.integer("group", 1);
  op.offset_groups = node.integer("offset_group", 1);
  const int64_t batch = op.image[0], channels = op.image[1], taps = elements_of(op.window.kernel);
  const auto divides = [&](int64_t groups) { return groups > 0 && channels % groups == 0; };
  if (!divides(op.groups) || !divides(op.offset_groups)) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("its {} channels do not divide among {} and {} groups", channels, op.groups,
                            op.offset_groups));
  }
  const auto shaped = [&](int64_t numbers) {
    Shape shape{batch, op.offset_groups * taps * numbers};
    shape.insert(shape.end(), op.extents.begin(), op.extents.end());
    return shape;
  };
  Shape weight{op.weight[0], channels / op.groups};
  weight.insert(weight.end(), op.window.kernel.begin(), op.window.kernel.end());
  const bool fits =
      op.weight[0] % op.groups == 0 && op.weight == weight &&
      node.shape(MovedWindows::kOffsets) == shaped(static_cast<int64_t>(op.spatial.size())) &&
      (!node.has_input(MovedWindows::kBias) || node.shape(MovedWindows::kBias) == Shape{op.weight[0]}) &&
      (!node.has_input(MovedWindows::kMask) || node.shape(MovedWindows::kMask) == shaped(1));
  if (fits) return op;
  return fail(ErrorKind::invalid_argument,
              fmt::format("its data {}, weights {} and offsets {} do not fit together", to_string(op.image),
                          to_string(op.weight), to_string(node.shape(MovedWindows::kOffsets))));
}

class MovedWindowSteps : public SampledSteps {
 public:
  MovedWindowSteps(const OnnxNode& node, const MovedWindows& op)
      : SampledSteps(node.input_count()), node_(node), op_(op) {}

  std::vector<ImportedOutput> run() {
    const int64_t batch = op_.image[0], channels = op_.image[1], maps = op_.weight[0],
                  parts = channels / op_.groups * taps_;
    // [N, groups of offsets, their channels, taps, places], as rows of a product for each group.
    const size_t columns =
        reshape(transpose(sampled(), {0, 1, 4, 2, 3}), {batch, op_.groups, parts, places_});
    const size_t weights = reshape(MovedWindows::kWeight, {op_.groups, maps / op_.groups, parts});
    size_t result = reshape(matmul(weights, columns), {batch, maps, places_});
    if (node_.has_input(MovedWindows::kBias)) result = plus(result, reshape(MovedWindows::kBias, {maps, 1}));
    Shape shape{batch, maps};
    shape.insert(shape.end(), op_.extents.begin(), op_.extents.end());
    give(reshape(result, shape));
    return outputs();
  }

 private:
  // [N, groups of offsets, taps, places, channels of such a group].
  size_t sampled() {
    const int64_t batch = op_.image[0], groups = op_.offset_groups, own = op_.image[1] / groups,
                  size = elements_of(op_.spatial);
    const size_t apart = reshape(0, {batch, groups, own, size});
    const size_t rows = reshape(transpose(apart, {0, 3, 1, 2}), {batch * size * groups, own});
    const size_t first = plus(counted({batch, 1, 1, 1}, size * groups), counted({groups, 1, 1}));
    std::vector<std::array<Neighbour, 2>> axes;
    for (size_t d = 0; d < op_.spatial.size(); ++d) axes.push_back(neighbours(coordinate(d), op_.spatial[d]));
    const Shape wide{batch, groups, taps_, places_, 1};
    std::optional<size_t> sum;
    for_each_corner(axes, op_.spatial, [&](size_t place, size_t weight) {
      const size_t row = plus(first, times(place, whole(groups)));
      const size_t term = times(gather(rows, 0, row), reshape(weight, wide));
      sum = sum ? plus(*sum, term) : term;
    });
    return node_.has_input(MovedWindows::kMask) ? times(*sum, reshape(MovedWindows::kMask, wide)) : *sum;
  }

  // [N, groups of offsets, taps, places] along one axis: where the tap lies, and by how much it is moved.
  size_t coordinate(size_t axis) {
    const auto axes = static_cast<int64_t>(op_.spatial.size());
    const Shape all{op_.image[0], op_.offset_groups, taps_, axes, places_};
    Shape one = all;
    one.erase(one.begin() + 3);
    const size_t offsets = reshape(MovedWindows::kOffsets, all);
    const size_t moved = reshape(part(offsets, all, 3, static_cast<int64_t>(axis), 1), one);
    std::vector<double> origins;
    Shape tap(op_.spatial.size(), 0);
    do {
      Shape at(op_.spatial.size(), 0);
      do {
        origins.push_back(static_cast<double>(at[axis] * op_.window.strides[axis] +
                                              tap[axis] * op_.window.dilations[axis] -
                                              op_.window.pads_before[axis]));
      } while (next_index(at, op_.extents));
    } while (next_index(tap, op_.window.kernel));
    return plus(moved, constant(DType::f32, {taps_, places_}, origins));
  }

  const OnnxNode& node_;
  const MovedWindows& op_;
  int64_t taps_ = elements_of(op_.window.kernel);
  int64_t places_ = elements_of(op_.extents);
};

}  // namespace

ImportedOutputs import_roi_align(OnnxNode& node) {
  LATHE_TRY(const RegionBins op, read_bins(node));
  return RegionSteps(node, op).run();
}

ImportedOutputs import_deform_conv(OnnxNode& node) {
  LATHE_TRY(const MovedWindows op, read_windows(node));
  return MovedWindowSteps(node, op).run();
}

}  // namespace lathe
