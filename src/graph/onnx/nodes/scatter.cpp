#include "graph/onnx/nodes/scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include "expr/integers.h"
#include "graph/operators/family.h"

namespace lathe {
namespace {

constexpr size_t kScattered = 0, kScatterIndices = 1, kScatterUpdates = 2;
// So often one place may be updated: each time is a pass over the data.
constexpr size_t kMostUpdates = 64;

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

// The element of the data for each update, in order.
Result<Shape> targets_of_elements(const OnnxNode& node, size_t axis) {
  const Shape &data = node.shape(kScattered), &updates = node.shape(kScatterUpdates);
  bool fits = updates.size() == data.size() && node.shape(kScatterIndices) == updates;
  for (size_t d = 0; fits && d < data.size(); ++d) fits = d == axis || updates[d] <= data[d];
  if (!fits) return do_not_fit(node);
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

// The last axis of the indices names the first axes of the data, of which the rest is one update.
Result<Shape> targets_of_slices(const OnnxNode& node) {
  const Shape &data = node.shape(kScattered), &indices = node.shape(kScatterIndices);
  const size_t named = indices.empty() ? 0 : static_cast<size_t>(indices.back());
  if (indices.empty() || named > data.size()) return do_not_fit(node);
  const auto rest = data.begin() + static_cast<std::ptrdiff_t>(named);
  Shape expected(indices.begin(), indices.end() - 1);
  expected.insert(expected.end(), rest, data.end());
  if (node.shape(kScatterUpdates) != expected) return do_not_fit(node);
  LATHE_TRY(const Shape numbers, node.constant_integers(kScatterIndices));
  const int64_t size = elements_of(Shape(rest, data.end()));
  const Shape strides = strides_of(data);
  Shape targets;
  for (size_t i = 0; i < numbers.size(); i += named) {
    int64_t first = 0;
    for (size_t d = 0; d < named; ++d) {
      LATHE_TRY(const int64_t place, place_on(numbers[i + d], d, data));
      first += place * strides[d];
    }
    for (int64_t k = 0; k < size; ++k) targets.push_back(first + k);
  }
  return targets;
}

// What leaves every element as it is.
double neutral(ZipFunction function, DType dtype) {
  if (function == ZipFunction::add) return 0;
  if (function == ZipFunction::mul) return 1;
  const bool is_max = function == ZipFunction::max;
  if (is_float(dtype))
    return is_max ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  const Interval range = integers_of(dtype);
  return number_kept(dtype, is_max ? range.lo : largest_kept(dtype));
}

Result<std::optional<ZipFunction>> reduction_of(OnnxNode& node) {
  const std::string reduction = node.text("reduction", "none");
  if (reduction == "none") return std::nullopt;
  if (reduction == "add") return ZipFunction::add;
  if (reduction == "mul") return ZipFunction::mul;
  if (reduction == "max") return ZipFunction::max;
  if (reduction == "min") return ZipFunction::min;
  return fail(
      ErrorKind::invalid_argument,
      fmt::format("attribute 'reduction' is '{}', and must be none, add, mul, max or min", reduction));
}

class ScatterSteps {
 public:
  explicit ScatterSteps(const OnnxNode& node) : node_(node), steps_(node.input_count()) {}

  // Elements of a list, by their numbers in it.
  size_t taken(size_t list, const Shape& numbers) {
    return steps_.add(GatherByOp{0},
                      {list, steps_.integers({static_cast<int64_t>(numbers.size())}, numbers)});
  }
  size_t flat(size_t x, int64_t elements) { return steps_.add(ReshapeOp{{elements}}, {x}); }

  ImportedOutputs write(const Shape& targets, const std::optional<ZipFunction>& reduction) {
    const int64_t elements = elements_of(node_.shape(kScattered));
    const auto updates = static_cast<int64_t>(targets.size());
    std::vector<std::vector<int64_t>> updates_of(static_cast<size_t>(elements));
    for (int64_t u = 0; u < updates; ++u)
      updates_of[static_cast<size_t>(targets[static_cast<size_t>(u)])].push_back(u);
    size_t result = flat(kScattered, elements);
    const size_t given = flat(kScatterUpdates, updates);
    if (reduction) {
      LATHE_TRY(result, reduced(result, given, *reduction, updates_of));
    } else {
      Shape places;
      for (int64_t i = 0; i < elements; ++i) {
        const std::vector<int64_t>& own = updates_of[static_cast<size_t>(i)];
        places.push_back(own.empty() ? i : elements + own.back());
      }
      result = taken(steps_.add(ConcatOp{0}, {result, given}), places);
    }
    steps_.add(ReshapeOp{node_.shape(kScattered)}, {result});
    return std::vector<ImportedOutput>{steps_.finish()};
  }

 private:
  // The first updates of all places, then the second ones ..
  Result<size_t> reduced(size_t result, size_t given, ZipFunction function,
                         const std::vector<std::vector<int64_t>>& updates_of) {
    const size_t most = std::ranges::max(updates_of, {}, &std::vector<int64_t>::size).size();
    if (most > kMostUpdates)
      return fail(ErrorKind::unsupported,
                  fmt::format("it updates a place {} times, and Lathe supports {}", most, kMostUpdates));
    const DType dtype = node_.type(kScattered).dtype;
    const int64_t nothing = elements_of(node_.shape(kScatterUpdates));
    const size_t list =
        steps_.add(ConcatOp{0}, {given, steps_.constant(dtype, {1}, {neutral(function, dtype)})});
    for (size_t round = 0; round < most; ++round) {
      Shape places;
      for (const std::vector<int64_t>& own : updates_of)
        places.push_back(round < own.size() ? own[round] : nothing);
      result = steps_.add(ZipOp{function}, {result, taken(list, places)});
    }
    return result;
  }

  const OnnxNode& node_;
  StepList steps_;
};

}  // namespace

ImportedOutputs import_scatter_elements(OnnxNode& node) {
  LATHE_TRY(const size_t axis, axis_of(node.integer("axis", 0), node.shape(kScattered).size()));
  LATHE_TRY(const auto reduction, reduction_of(node));
  LATHE_TRY(const Shape targets, targets_of_elements(node, axis));
  return ScatterSteps(node).write(targets, reduction);
}

ImportedOutputs import_scatter_nd(OnnxNode& node) {
  LATHE_TRY(const auto reduction, reduction_of(node));
  LATHE_TRY(const Shape targets, targets_of_slices(node));
  return ScatterSteps(node).write(targets, reduction);
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
  if (node.is_constant(kScatterIndices)) {
    LATHE_TRY(const Shape numbers, node.constant_integers(kScatterIndices));
    for (size_t i = 0; i < numbers.size(); ++i) LATHE_TRY_STATUS(place_on(numbers[i], i % named, own));
  }
  StepList steps(node.input_count());
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
  int64_t batches = 1;
  if (batch > 0) {
    Shape shape(outer.size(), 1);
    std::copy(data.begin(), at(batch), shape.begin());
    batches = elements_of(shape);
    Shape first(static_cast<size_t>(batches));
    for (size_t b = 0; b < first.size(); ++b) first[b] = static_cast<int64_t>(b) * elements_of(own);
    places = zip(ZipFunction::add, places, steps.integers(shape, first));
  }
  Shape list{batches * elements_of(own)};
  list.insert(list.end(), rest.begin(), rest.end());
  steps.add(GatherByOp{0}, {steps.add(ReshapeOp{list}, {kScattered}), places});
  return std::vector<ImportedOutput>{steps.finish()};
}

}  // namespace lathe
