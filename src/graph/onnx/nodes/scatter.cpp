#include "graph/onnx/nodes/scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include "expr/integers.h"
#include "graph/onnx/empty.h"
#include "graph/onnx/nodes/node_steps.h"
#include "graph/operators/family.h"

namespace lathe {
namespace {

constexpr size_t kScattered = 0, kScatterIndices = 1, kScatterUpdates = 2;
// So often one place may be updated by constant indices in passes over the data, one each time.
constexpr size_t kMostRounds = 64;

// How far apart the places of each axis lie in row-major order.
Shape strides_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

std::unexpected<Error> do_not_fit(const OnnxNode& node) {
  std::string shapes;
  for (size_t input = 0; input < node.input_count(); ++input)
    shapes += (input == 0                        ? ""
               : input + 1 == node.input_count() ? " and "
                                                 : ", ") +
              to_string(node.shape(input));
  return fail(ErrorKind::invalid_argument, fmt::format("its inputs {} do not fit together", shapes));
}

// An index along an axis, from the front.
Result<int64_t> place_on(int64_t index, size_t axis, const Shape& shape) {
  LATHE_TRY_STATUS(check_places(std::vector<double>{static_cast<double>(index)}, axis, shape));
  return index < 0 ? index + shape[axis] : index;
}

// An Error unless each update has an index, and the data room for all.
Status check_elements(const OnnxNode& node, size_t axis) {
  const Shape &data = node.shape(kScattered), &updates = node.shape(kScatterUpdates);
  bool fits = updates.size() == data.size() && node.shape(kScatterIndices) == updates;
  for (size_t d = 0; fits && d < data.size(); ++d) fits = d == axis || updates[d] <= data[d];
  return fits ? Status() : do_not_fit(node);
}

Status check_slices(const OnnxNode& node) {
  const Shape &data = node.shape(kScattered), &indices = node.shape(kScatterIndices);
  const size_t named = indices.empty() ? 0 : static_cast<size_t>(indices.back());
  if (indices.empty() || named > data.size()) return do_not_fit(node);
  Shape expected(indices.begin(), indices.end() - 1);
  expected.insert(expected.end(), data.begin() + static_cast<std::ptrdiff_t>(named), data.end());
  return node.shape(kScatterUpdates) == expected ? Status() : do_not_fit(node);
}

// Whether nothing is updated, so that the data stay.
bool updates_nothing(const OnnxNode& node) {
  return has_no_elements(node.shape(kScattered)) || has_no_elements(node.shape(kScatterUpdates));
}

ImportedOutputs scattered_itself(const OnnxNode& node) {
  StepList steps(node.input_count());
  steps.add(IdentityOp{}, {kScattered});
  return std::vector<ImportedOutput>{steps.finish()};
}

// The element of the data for each update, in order.
Result<Shape> targets_of_elements(const OnnxNode& node, size_t axis) {
  const Shape &data = node.shape(kScattered), &updates = node.shape(kScatterUpdates);
  LATHE_TRY(const Shape indices, node.constant_integers(kScatterIndices));
  const Shape strides = strides_of(data);
  Shape targets, at(updates.size(), 0);
  for (const int64_t index : indices) {
    Shape place = at;
    LATHE_TRY(place[axis], place_on(index, axis, data));
    targets.push_back(std::inner_product(place.begin(), place.end(), strides.begin(), int64_t{0}));
    next_index(at, updates);
  }
  return targets;
}

// The last axis of the indices names the first axes of the data, of which the rest is one update; where it
// names none each update is one of all data.
Result<Shape> targets_of_slices(const OnnxNode& node) {
  const Shape &data = node.shape(kScattered), &indices = node.shape(kScatterIndices);
  const auto named = static_cast<size_t>(indices.back());
  const auto rest = data.begin() + static_cast<std::ptrdiff_t>(named);
  LATHE_TRY(const Shape numbers,
            has_no_elements(indices) ? Result<Shape>(Shape()) : node.constant_integers(kScatterIndices));
  const auto updates = static_cast<size_t>(elements_between(indices, 0, indices.size() - 1));
  const int64_t size = elements_of(Shape(rest, data.end()));
  const Shape strides = strides_of(data);
  Shape targets;
  for (size_t i = 0; i < updates; ++i) {
    int64_t first = 0;
    for (size_t d = 0; d < named; ++d) {
      LATHE_TRY(const int64_t place, place_on(numbers[i * named + d], d, data));
      first += place * strides[d];
    }
    for (int64_t k = 0; k < size; ++k) targets.push_back(first + k);
  }
  return targets;
}

// So many places from the first ones on, along each axis.
struct Box {
  Shape first;
  Shape extents;
};

// The box whose elements these are, in row-major order.
std::optional<Box> box_of(const Shape& elements, const Shape& shape) {
  if (elements.empty()) return std::nullopt;
  const Shape strides = strides_of(shape);
  Box box;
  for (size_t d = 0; d < shape.size(); ++d) {
    box.first.push_back(elements.front() / strides[d] % shape[d]);
    box.extents.push_back(elements.back() / strides[d] % shape[d] - box.first[d] + 1);
  }
  const bool is_none = std::ranges::any_of(box.extents, [](int64_t extent) { return extent < 1; });
  if (is_none || elements_of(box.extents) != std::ssize(elements)) return std::nullopt;
  Shape at(shape.size(), 0);
  for (const int64_t element : elements) {
    int64_t expected = 0;
    for (size_t d = 0; d < shape.size(); ++d) expected += (box.first[d] + at[d]) * strides[d];
    if (element != expected) return std::nullopt;
    next_index(at, box.extents);
  }
  return box;
}

// What leaves every element as it is.
double neutral(ScatterFunction function, DType dtype) {
  if (function == ScatterFunction::add) return 0;
  if (function == ScatterFunction::mul) return 1;
  const bool is_max = function == ScatterFunction::max;
  if (is_float(dtype))
    return is_max ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  const Interval range = integers_of(dtype);
  return number_kept(dtype, is_max ? range.lo : largest_kept(dtype));
}

Result<ScatterFunction> reduction_of(OnnxNode& node) {
  const std::string reduction = node.text("reduction", "none");
  if (reduction == "none") return ScatterFunction::last;
  if (reduction == "add") return ScatterFunction::add;
  if (reduction == "mul") return ScatterFunction::mul;
  if (reduction == "max") return ScatterFunction::max;
  if (reduction == "min") return ScatterFunction::min;
  return fail(
      ErrorKind::invalid_argument,
      fmt::format("attribute 'reduction' is '{}', and must be none, add, mul, max or min", reduction));
}

class ScatterSteps : public NodeSteps {
 public:
  explicit ScatterSteps(const OnnxNode& node) : NodeSteps(node.input_count()), node_(node) {}

  // Constant targets that name each place once, or without a reduction: one element each.
  void write(const Shape& targets) {
    if (const std::optional<Box> box = box_of(targets, node_.shape(kScattered))) return write_box(*box);
    const int64_t elements = elements_of(node_.shape(kScattered));
    Shape sources(static_cast<size_t>(elements));
    std::iota(sources.begin(), sources.end(), int64_t{0});
    for (size_t u = 0; u < targets.size(); ++u)
      sources[static_cast<size_t>(targets[u])] = elements + static_cast<int64_t>(u);
    const size_t all = concat(0, {flat(kScattered), flat(kScatterUpdates)});
    give(reshape(gather(all, 0, integers({elements}, sources)), node_.shape(kScattered)));
  }

  // Each place takes, of constant targets, its first update, then its second one ..
  void combine(const std::vector<Shape>& updates_of, ScatterFunction function) {
    const size_t most = std::ranges::max(updates_of, {}, &Shape::size).size();
    const DType dtype = node_.type(kScattered).dtype;
    const int64_t nothing = elements_of(node_.shape(kScatterUpdates));
    const size_t list = concat(0, {flat(kScatterUpdates), constant(dtype, {1}, {neutral(function, dtype)})});
    size_t result = flat(kScattered);
    for (size_t round = 0; round < most; ++round) {
      Shape places;
      for (const Shape& own : updates_of) places.push_back(round < own.size() ? own[round] : nothing);
      const size_t taken = gather(list, 0, integers({static_cast<int64_t>(places.size())}, places));
      result = zip(zip_of(function), result, taken);
    }
    give(reshape(result, node_.shape(kScattered)));
  }

  // By places that are known when the model runs; all three are shaped as `ScatterOp` takes them.
  size_t scatter(size_t data, size_t places, size_t updates, ScatterFunction function) {
    const DType dtype = node_.type(kScattered).dtype;
    const bool is_narrow = function != ScatterFunction::last && is_number(dtype) && info_of(dtype).bytes < 4;
    if (is_narrow) {
      data = cast(DType::i32, data);
      updates = cast(DType::i32, updates);
    }
    const size_t result = add(ScatterOp{function}, {data, places, updates});
    return is_narrow ? cast(dtype, result) : result;
  }

  // Indices from the front, those beyond both ends too.
  size_t from_front(size_t indices, size_t extents) {
    if (node_.type(kScatterIndices).dtype != DType::i64) indices = cast(DType::i64, indices);
    const size_t is_behind = zip(ZipFunction::less, indices, whole(0));
    return where(is_behind, plus(indices, extents), indices);
  }

 private:
  // The updates between what lies beside them, axis by axis from the last one on.
  void write_box(const Box& box) {
    const Shape& data = node_.shape(kScattered);
    size_t result = reshape(kScatterUpdates, box.extents);
    for (size_t axis = data.size(); axis-- > 0;) {
      size_t slab = kScattered;
      Shape shape = data;
      const auto take = [&](size_t along, int64_t first, int64_t count) {
        return count == shape[along] ? slab : part(slab, shape, along, first, count);
      };
      if (box.extents[axis] == data[axis]) continue;
      for (size_t outer = 0; outer < axis; ++outer) {
        slab = take(outer, box.first[outer], box.extents[outer]);
        shape[outer] = box.extents[outer];
      }
      const int64_t behind = box.first[axis] + box.extents[axis];
      std::vector<size_t> parts = {result};
      if (box.first[axis] > 0) parts.insert(parts.begin(), take(axis, 0, box.first[axis]));
      if (behind < data[axis]) parts.push_back(take(axis, behind, data[axis] - behind));
      result = concat(axis, parts);
    }
    give(result);
  }

  static ZipFunction zip_of(ScatterFunction function) {
    if (function == ScatterFunction::mul) return ZipFunction::mul;
    if (function == ScatterFunction::max) return ZipFunction::max;
    return function == ScatterFunction::min ? ZipFunction::min : ZipFunction::add;
  }
  size_t flat(size_t x) { return reshape(x, {elements_of(node_.shape(x))}); }

  const OnnxNode& node_;
};

// Where the targets are constants; false where a place is updated too often for passes over all of the data.
bool add_constant_targets(ScatterSteps& steps, const OnnxNode& node, const Shape& targets,
                          ScatterFunction function) {
  if (function == ScatterFunction::last) {
    steps.write(targets);
    return true;
  }
  std::vector<Shape> updates_of(static_cast<size_t>(elements_of(node.shape(kScattered))));
  for (size_t u = 0; u < targets.size(); ++u)
    updates_of[static_cast<size_t>(targets[u])].push_back(static_cast<int64_t>(u));
  if (std::ranges::max(updates_of, {}, &Shape::size).size() > kMostRounds) return false;
  steps.combine(updates_of, function);
  return true;
}

// Updates that leave out some of the data beside the axis stand in front of others that name no place.
void add_run_time_elements(ScatterSteps& steps, const OnnxNode& node, size_t axis, ScatterFunction function) {
  const Shape &data = node.shape(kScattered), &updates = node.shape(kScatterUpdates);
  const size_t rank = data.size();
  size_t indices = steps.from_front(kScatterIndices, steps.whole(data[axis])), written = kScatterUpdates;
  Shape behind(rank, 0);
  for (size_t d = 0; d < rank; ++d) behind[d] = d == axis ? 0 : data[d] - updates[d];
  if (std::ranges::any_of(behind, [](int64_t more) { return more > 0; })) {
    PadOp pad{Shape(rank, 0), behind};
    written = steps.add(pad, {written});
    pad.value = -1;
    indices = steps.add(pad, {indices});
  }
  const int64_t outer = elements_between(data, 0, axis), inner = elements_between(data, axis + 1, rank);
  const auto placed = [&](size_t x, int64_t places) { return steps.reshape(x, {outer, places, inner}); };
  const size_t result = steps.scatter(placed(kScattered, data[axis]), placed(indices, updates[axis]),
                                      placed(written, updates[axis]), function);
  steps.give(steps.reshape(result, data));
}

// An index of several numbers as one, in row-major order; -1 where one of them is beyond its axis.
size_t add_named_places(ScatterSteps& steps, const Shape& indices, const Shape& axes) {
  const auto named = static_cast<int64_t>(axes.size());
  const size_t extents = steps.integers({named}, axes);
  const size_t numbers = steps.from_front(kScatterIndices, extents);
  const size_t last = indices.size() - 1;
  const size_t place = steps.reduce(ReduceFunction::sum,
                                    steps.times(numbers, steps.integers({named}, strides_of(axes))), {last});
  const size_t is_inside =
      steps.zip(ZipFunction::logical_and, steps.zip(ZipFunction::less_equal, steps.whole(0), numbers),
                steps.zip(ZipFunction::less, numbers, extents));
  const size_t inside = steps.reduce(ReduceFunction::min, steps.cast(DType::i64, is_inside), {last});
  return steps.where(steps.cast(DType::boolean, inside), place, steps.whole(-1));
}

// The same of constant indices, each behind the lists of the batches before its own.
Result<Shape> places_named(const OnnxNode& node, const Shape& axes, int64_t batches) {
  LATHE_TRY(const Shape numbers, node.constant_integers(kScatterIndices));
  const Shape strides = strides_of(axes);
  const size_t in_batch = numbers.size() / static_cast<size_t>(batches);
  Shape places;
  for (size_t i = 0; i < numbers.size(); i += axes.size()) {
    int64_t place = static_cast<int64_t>(i / in_batch) * elements_of(axes);
    for (size_t d = 0; d < axes.size(); ++d) {
      LATHE_TRY(const int64_t own, place_on(numbers[i + d], d, axes));
      place += own * strides[d];
    }
    places.push_back(place);
  }
  return places;
}

void add_run_time_slices(ScatterSteps& steps, const OnnxNode& node, ScatterFunction function) {
  const Shape &data = node.shape(kScattered), &indices = node.shape(kScatterIndices);
  const auto named = static_cast<size_t>(indices.back());
  const Shape axes(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(named));
  const int64_t size = elements_between(data, named, data.size()),
                count = elements_between(indices, 0, indices.size() - 1);
  const Shape list{1, count, 1};
  const size_t places = named == 0 ? steps.integers(list, Shape(static_cast<size_t>(count), 0))
                                   : steps.reshape(add_named_places(steps, indices, axes), list);
  const size_t result = steps.scatter(steps.reshape(kScattered, {1, elements_of(axes), size}), places,
                                      steps.reshape(kScatterUpdates, {1, count, size}), function);
  steps.give(steps.reshape(result, data));
}

}  // namespace

ImportedOutputs import_scatter_elements(OnnxNode& node) {
  LATHE_TRY(const size_t axis, axis_of(node.integer("axis", 0), node.shape(kScattered).size()));
  LATHE_TRY(const ScatterFunction function, reduction_of(node));
  LATHE_TRY_STATUS(check_elements(node, axis));
  ScatterSteps steps(node);
  if (node.is_constant(kScatterIndices)) {
    LATHE_TRY(const Shape targets, targets_of_elements(node, axis));
    if (targets.empty()) return scattered_itself(node);
    if (add_constant_targets(steps, node, targets, function)) return steps.outputs();
  }
  if (updates_nothing(node)) return scattered_itself(node);
  add_run_time_elements(steps, node, axis, function);
  return steps.outputs();
}

ImportedOutputs import_scatter_nd(OnnxNode& node) {
  LATHE_TRY(const ScatterFunction function, reduction_of(node));
  LATHE_TRY_STATUS(check_slices(node));
  ScatterSteps steps(node);
  if (node.is_constant(kScatterIndices) || has_no_elements(node.shape(kScatterIndices))) {
    LATHE_TRY(const Shape targets, targets_of_slices(node));
    if (targets.empty()) return scattered_itself(node);
    if (add_constant_targets(steps, node, targets, function)) return steps.outputs();
  }
  if (updates_nothing(node)) return scattered_itself(node);
  add_run_time_slices(steps, node, function);
  return steps.outputs();
}

// The data as a list of what one index names, and for each index its number in that list.
ImportedOutputs import_gather_nd(OnnxNode& node) {
  const Shape &data = node.shape(kScattered), &indices = node.shape(kScatterIndices);
  const auto batch = static_cast<size_t>(node.integer("batch_dims", 0));
  const size_t named = indices.empty() ? 0 : static_cast<size_t>(indices.back());
  const bool fits =
      named > 0 && batch < indices.size() && batch + named <= data.size() &&
      std::equal(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(batch), indices.begin());
  if (!fits) return do_not_fit(node);
  const auto at = [&](size_t axis) { return data.begin() + static_cast<std::ptrdiff_t>(axis); };
  const Shape own(at(batch), at(batch + named)), rest(at(batch + named), data.end());
  const Shape outer(indices.begin(), indices.end() - 1);
  StepList steps(node.input_count());
  const int64_t batches = elements_of(Shape(data.begin(), at(batch)));
  Shape list{batches * elements_of(own)};
  list.insert(list.end(), rest.begin(), rest.end());
  if (node.is_constant(kScatterIndices)) {
    LATHE_TRY(const Shape places, places_named(node, own, batches));
    const size_t flat = steps.add(ReshapeOp{list}, {kScattered});
    const std::optional<GatherOp> even = evenly_spaced(0, places, outer);
    if (even)
      steps.add(*even, {flat});
    else
      steps.add(GatherByOp{0}, {flat, steps.integers(outer, places)});
    return std::vector<ImportedOutput>{steps.finish()};
  }
  const auto zip = [&](ZipFunction function, size_t a, size_t b) {
    return steps.add(ZipOp{function}, {a, b});
  };
  size_t places = kScatterIndices;
  if (node.type(kScatterIndices).dtype != DType::i64)
    places = steps.add(CastOp{DType::i64}, {kScatterIndices});
  const auto axes = static_cast<int64_t>(named);
  const size_t is_behind = zip(ZipFunction::less, places, steps.integers({}, {0}));
  const size_t from_front = zip(ZipFunction::add, places, steps.integers({axes}, own));
  places = steps.add(WhereOp{}, {is_behind, from_front, places});
  ReduceOp sum;
  sum.function = ReduceFunction::sum;
  sum.axes = {indices.size() - 1};
  sum.keeps_axes = false;
  places = steps.add(sum, {zip(ZipFunction::mul, places, steps.integers({axes}, strides_of(own)))});
  if (batch > 0) {
    Shape shape(outer.size(), 1);
    std::copy(data.begin(), at(batch), shape.begin());
    Shape first(static_cast<size_t>(batches));
    for (size_t b = 0; b < first.size(); ++b) first[b] = static_cast<int64_t>(b) * elements_of(own);
    places = zip(ZipFunction::add, places, steps.integers(shape, first));
  }
  steps.add(GatherByOp{0}, {steps.add(ReshapeOp{list}, {kScattered}), places});
  return std::vector<ImportedOutput>{steps.finish()};
}

}  // namespace lathe
