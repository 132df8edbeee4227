#include "graph/onnx/nodes/windows.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/onnx/nodes/node_steps.h"

namespace lathe {
namespace {

// Of places that windows name.
constexpr int64_t kMostTaps = int64_t{1} << 26;

Shape spatial_of(const Shape& image) { return {image.begin() + 2, image.end()}; }

// Row-major, or, `reversed`, with the first axis' places side by side.
int64_t number_of(const Shape& index, const Shape& shape, bool reversed = false) {
  int64_t number = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t d = reversed ? shape.size() - 1 - i : i;
    number = number * shape[d] + index[d];
  }
  return number;
}

// For each place of the result the operand's places below its window, in order. A tap beside the operand
// names the first one that lies inside, which is then named before any other that it is compared with.
Result<Shape> covered_places(const SlidingWindow& window, const Shape& spatial, const Shape& extents) {
  LATHE_TRY_STATUS(check_shape(window.kernel, "its kernel"));
  const int64_t taps = elements_of(window.kernel);
  if (elements_of(extents) > kMostTaps / taps) {
    return fail(ErrorKind::unsupported, fmt::format("its windows have more than {} taps", kMostTaps));
  }
  Shape at(extents.size(), 0), places;
  do {
    const auto begin = static_cast<std::ptrdiff_t>(places.size());
    places.resize(places.size() + static_cast<size_t>(taps), -1);
    for_each_tap(window, spatial, at, [&](const Shape& tap, const Shape& position) {
      places[static_cast<size_t>(begin + number_of(tap, window.kernel))] = number_of(position, spatial);
    });
    const auto first =
        std::ranges::find_if(places.begin() + begin, places.end(), [](int64_t place) { return place >= 0; });
    std::ranges::replace(places.begin() + begin, places.end(), -1, *first);
  } while (next_index(at, extents));
  return places;
}

// |x|^p.
size_t powers(NodeSteps& steps, int64_t p) {
  return steps.map(MapFunction::power, steps.map(MapFunction::abs, 0), static_cast<double>(p));
}

Result<int64_t> read_p(OnnxNode& node) {
  const int64_t p = node.integer("p", 2);
  if (p >= 1) return p;
  return fail(ErrorKind::invalid_argument, fmt::format("attribute 'p' is {}, and must be at least 1", p));
}

// The root of what `op` adds up of the powers; itself where it has a norm of its own.
std::vector<ImportedOutput> lp_outputs(const GraphOp& op, int64_t p) {
  if (p <= 2) return {op};
  NodeSteps steps(1);
  steps.give(steps.map(MapFunction::power, steps.add(op, {powers(steps, p)}), 1 / static_cast<double>(p)));
  return steps.outputs();
}

// What Col2Im's attributes and constants say.
struct Blocks {
  SlidingWindow window;
  Shape image;
  Shape counts;  // of blocks along each axis
};

Result<Blocks> read_blocks(OnnxNode& node) {
  Blocks blocks;
  LATHE_TRY(blocks.image, node.constant_integers(1));
  LATHE_TRY(blocks.window.kernel, node.constant_integers(2));
  const size_t rank = blocks.image.size();
  blocks.window.strides = node.integers("strides", Shape(rank, 1));
  blocks.window.dilations = node.integers("dilations", Shape(rank, 1));
  const Shape pads = node.integers("pads", Shape(2 * rank, 0));
  if (pads.size() != 2 * rank)
    return fail(ErrorKind::invalid_argument, fmt::format("it has {} pads for {} axes", pads.size(), rank));
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(rank);
  blocks.window.pads_before.assign(pads.begin(), middle);
  blocks.window.pads_after.assign(middle, pads.end());
  LATHE_TRY_STATUS(check_shape(blocks.image, "its image"));
  LATHE_TRY_STATUS(check_shape(blocks.window.kernel, "its block"));
  if (std::ranges::any_of(blocks.image, [](int64_t extent) { return extent > kMostTaps; }))
    return fail(ErrorKind::unsupported, fmt::format("its image {} is too large", to_string(blocks.image)));
  LATHE_TRY(blocks.counts, output_extents(blocks.window, blocks.image));
  const Shape& columns = node.shape(0);
  const int64_t taps = elements_of(blocks.window.kernel), count = elements_of(blocks.counts);
  if (columns.size() == 3 && columns[1] % taps == 0 && columns[2] == count && rank > 0) return blocks;
  return fail(
      ErrorKind::invalid_argument,
      fmt::format("its operand {} is not [N, C x {}, {}], as blocks {} of an image {} have it",
                  to_string(columns), taps, count, to_string(blocks.window.kernel), to_string(blocks.image)));
}

// For each place of an axis what blocks have for it, by the tap's and the block's number: row-major.
std::vector<Shape> parts_of_places(const Blocks& blocks, size_t d) {
  const SlidingWindow& window = blocks.window;
  std::vector<Shape> parts(static_cast<size_t>(blocks.image[d]));
  for (int64_t tap = 0; tap < window.kernel[d]; ++tap) {
    for (int64_t block = 0; block < blocks.counts[d]; ++block) {
      const int64_t place = block * window.strides[d] + tap * window.dilations[d] - window.pads_before[d];
      if (place >= 0 && place < blocks.image[d])
        parts[static_cast<size_t>(place)].push_back(tap * blocks.counts[d] + block);
    }
  }
  return parts;
}

}  // namespace

ImportedOutputs import_max_pool_outputs(OnnxNode& node) {
  LATHE_TRY(const MaxPoolOp op, import_max_pool(node));
  if (node.output_count() < 2) return std::vector<ImportedOutput>{GraphOp(op)};
  const bool reversed = node.integer("storage_order", 0) != 0;
  LATHE_TRY(const TensorType result, infer(op, std::vector<TensorType>{node.type(0)}));
  const Shape &image = node.shape(0), spatial = spatial_of(image), extents = spatial_of(result.shape);
  LATHE_TRY(const Shape covered, covered_places(op.window, spatial, extents));
  const int64_t planes = image[0] * image[1], size = elements_of(spatial), count = elements_of(extents),
                taps = elements_of(op.window.kernel);
  Shape numbers;  // as the second output has them
  Shape index(spatial.size(), 0);
  do numbers.push_back(number_of(index, spatial, reversed));
  while (next_index(index, spatial));
  Shape named;
  for (const int64_t place : covered) named.push_back(numbers[static_cast<size_t>(place)]);
  NodeSteps steps(1);
  steps.give(steps.add(op, {0}));
  const size_t data = steps.reshape(0, {planes, size});
  const size_t seen = steps.gather(data, 1, steps.integers({count, taps}, covered));
  const size_t tap = steps.add(ArgExtremumOp{true, 2, false}, {seen});
  const size_t which = steps.plus(tap, steps.counted({count}, taps));
  const size_t place = steps.gather(steps.integers({count * taps}, named), 0, which);
  steps.give(steps.reshape(steps.plus(place, steps.counted({planes, 1}, size)), result.shape));
  return steps.outputs();
}

ImportedOutputs import_any_lp_pool(OnnxNode& node) {
  LATHE_TRY(const LpPoolOp op, import_lp_pool(node));
  LATHE_TRY(const int64_t p, read_p(node));
  return lp_outputs(op, p);
}

ImportedOutputs import_any_global_lp_pool(OnnxNode& node) {
  LATHE_TRY(const ReduceOp op, import_global_lp_pool(node));
  LATHE_TRY(const int64_t p, read_p(node));
  return lp_outputs(op, p);
}

ImportedOutputs import_col2im(OnnxNode& node) {
  LATHE_TRY(const Blocks blocks, read_blocks(node));
  const size_t rank = blocks.image.size();
  const Shape& columns = node.shape(0);
  const int64_t channels = columns[1] / elements_of(blocks.window.kernel);
  Shape apart{columns[0] * channels}, shape = apart;
  apart.insert(apart.end(), blocks.window.kernel.begin(), blocks.window.kernel.end());
  apart.insert(apart.end(), blocks.counts.begin(), blocks.counts.end());
  std::vector<size_t> order{0};
  for (size_t d = 0; d < rank; ++d) {
    order.insert(order.end(), {d + 1, d + 1 + rank});
    shape.push_back(blocks.window.kernel[d] * blocks.counts[d]);
  }
  NodeSteps steps(1);
  size_t result = steps.reshape(steps.transpose(steps.reshape(0, apart), order), shape);
  for (size_t d = 0; d < rank; ++d) {
    const std::vector<Shape> parts = parts_of_places(blocks, d);
    const auto most = static_cast<int64_t>(std::ranges::max(parts, {}, &Shape::size).size());
    if (blocks.image[d] > kMostTaps / std::max<int64_t>(1, most))
      return fail(ErrorKind::unsupported, fmt::format("its blocks have more than {} taps", kMostTaps));
    const int64_t nothing = shape[d + 1];  // the zero behind the axis
    Shape list, behind(rank + 1, 0);
    for (Shape own : parts) {
      own.resize(static_cast<size_t>(std::max<int64_t>(1, most)), nothing);
      list.insert(list.end(), own.begin(), own.end());
    }
    behind[d + 1] = 1;
    const size_t places = steps.integers({blocks.image[d], std::max<int64_t>(1, most)}, list);
    const size_t taken = steps.gather(steps.pad(result, Shape(rank + 1, 0), behind), d + 1, places);
    result = steps.reduce(ReduceFunction::sum, taken, {d + 2}, false);
    shape[d + 1] = blocks.image[d];
  }
  Shape image{columns[0], channels};
  image.insert(image.end(), blocks.image.begin(), blocks.image.end());
  steps.give(steps.reshape(result, image));
  return steps.outputs();
}

ImportedOutputs import_max_unpool(OnnxNode& node) {
  constexpr size_t kIndices = 1, kExtents = 2;
  const Shape& shape = node.shape(0);
  LATHE_TRY(const SlidingWindow window, import_window(node, {}));
  const size_t rank = shape.size();
  Shape image{shape[0], shape[1]};
  const bool is_long = std::ranges::any_of(shape, [](int64_t extent) { return extent > kMostTaps; });
  if (is_long || window.kernel.size() + 2 != rank || node.shape(kIndices) != shape)
    return fail(ErrorKind::invalid_argument, "its operand, indices and kernel do not fit together");
  for (size_t d = 0; d + 2 < rank; ++d) {
    image.push_back((shape[d + 2] - 1) * window.strides[d] + window.kernel[d] - window.pads_before[d] -
                    window.pads_after[d]);
  }
  Shape result = image;
  if (node.has_input(kExtents)) {
    LATHE_TRY(result, node.constant_integers(kExtents));
  }
  LATHE_TRY_STATUS(check_shape(image, "what it unpools"));
  LATHE_TRY_STATUS(check_shape(result, "its result"));
  Shape behind(rank, 0);
  bool fits = result.size() == rank;
  for (size_t d = 0; fits && d < rank; ++d) {
    behind[d] = result[d] - image[d];
    fits = image[d] > 0 && behind[d] >= 0;
  }
  if (!fits) {
    return fail(ErrorKind::invalid_argument, fmt::format("what it gives {} does not hold what it unpools, {}",
                                                         to_string(result), to_string(image)));
  }
  const int64_t planes = shape[0] * shape[1], count = elements_between(shape, 2, rank),
                size = elements_between(image, 2, rank);
  NodeSteps steps(2);  // the extents are no operand
  const DType dtype = node.type(0).dtype;
  const size_t nothing = steps.expand(steps.constant(dtype, {}, {0}), {planes, size, 1});
  const size_t indices = steps.reshape(kIndices, {planes, count, 1});
  const size_t places = steps.minus(indices, steps.counted({planes, 1, 1}, size));
  const size_t scattered = steps.add(ScatterOp{}, {nothing, places, steps.reshape(0, {planes, count, 1})});
  steps.give(steps.pad(steps.reshape(scattered, image), Shape(rank, 0), behind));
  return steps.outputs();
}

}  // namespace lathe
