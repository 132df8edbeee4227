#include "graph/onnx/nodes/selections.h"

#include <fmt/format.h>

#include <limits>
#include <numeric>

namespace lathe {

namespace {

size_t zip(StepList& steps, ZipFunction function, size_t a, size_t b) {
  return steps.add(ZipOp{function}, {a, b});
}

ImportedOutputs counted_output(StepList& steps, size_t axis, size_t count) {
  return std::vector<ImportedOutput>{CountedOutput{steps.finish(), axis, count}};
}

// Of places in a tensor of that shape, row-major, the one along each axis, behind each other along axis
// `axis` of two; `places` is [n].
size_t add_indices(StepList& steps, size_t places, int64_t elements, const Shape& shape, size_t axis) {
  std::vector<size_t> lines;
  Shape line{elements, elements};
  line[axis] = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t stride =
        elements_of(Shape(shape.begin() + static_cast<std::ptrdiff_t>(d) + 1, shape.end()));
    size_t index = stride == 1 ? places : zip(steps, ZipFunction::div, places, steps.integers({}, {stride}));
    if (d > 0) index = zip(steps, ZipFunction::mod, index, steps.integers({}, {shape[d]}));
    lines.push_back(steps.add(ReshapeOp{line}, {index}));
  }
  return lines.size() == 1 ? lines[0] : steps.add(ConcatOp{axis}, lines);
}

// Those of a constant are a constant.
ImportedOutputs constant_non_zero(const std::vector<double>& values, const Shape& shape) {
  std::vector<std::vector<double>> indices(shape.size());
  Shape index(shape.size(), 0);
  for (const double value : values) {
    for (size_t d = 0; value != 0 && d < shape.size(); ++d)
      indices[d].push_back(static_cast<double>(index[d]));
    next_index(index, shape);
  }
  std::vector<double> all;
  for (const std::vector<double>& line : indices) all.insert(all.end(), line.begin(), line.end());
  const TensorType type{DType::i64,
                        {static_cast<int64_t>(shape.size()), static_cast<int64_t>(indices[0].size())}};
  return std::vector<ImportedOutput>{OnnxConstant{type, to_bytes(DType::i64, all)}};
}

}  // namespace

Selected add_selected(StepList& steps, size_t flags, int64_t elements) {
  ReduceOp sum;
  sum.axes = {0};
  sum.keeps_axes = false;
  const size_t places = steps.add(SetPlacesOp{0, elements}, {flags});
  return {places, steps.add(sum, {steps.add(CastOp{DType::i64}, {flags})})};
}

ImportedOutputs import_non_zero(OnnxNode& node) {
  const Shape& shape = node.shape(0);
  if (shape.empty()) return fail(ErrorKind::unsupported, "its operand has no axes");
  if (node.is_constant(0)) {
    LATHE_TRY(const std::vector<double> values, node.constant_numbers(0));
    return constant_non_zero(values, shape);
  }
  StepList steps(node.input_count());
  const int64_t elements = elements_of(shape);
  const size_t flat = steps.add(ReshapeOp{{elements}}, {0});
  const size_t flags =
      node.type(0).dtype == DType::boolean ? flat : steps.add(CastOp{DType::boolean}, {flat});
  const Selected selected = add_selected(steps, flags, elements);
  const size_t result = add_indices(steps, selected.places, elements, shape, 0);
  steps.add(IdentityOp{}, {result});
  return counted_output(steps, 1, selected.count);
}

ImportedOutputs import_compress(OnnxNode& node) {
  constexpr size_t kCondition = 1;
  const bool is_flat = !node.has("axis");
  const Shape& data = node.shape(0);
  const Shape shape = is_flat ? Shape{elements_of(data)} : data;
  LATHE_TRY(const size_t axis, axis_of(node.integer("axis", 0), shape.size()));
  const Shape& condition = node.shape(kCondition);
  if (condition.size() != 1 || condition[0] > shape[axis] || node.type(kCondition).dtype != DType::boolean) {
    return fail(ErrorKind::invalid_argument, fmt::format("its condition is {}, and its axis has {} places",
                                                         to_string(node.type(kCondition)), shape[axis]));
  }
  StepList steps(node.input_count());
  const size_t operand = is_flat ? steps.add(ReshapeOp{shape}, {0}) : 0;
  if (!node.is_constant(kCondition)) {
    const Selected selected = add_selected(steps, kCondition, condition[0]);
    steps.add(GatherByOp{axis}, {operand, selected.places});
    return counted_output(steps, axis, selected.count);
  }
  LATHE_TRY(const std::vector<double> flags, node.constant_numbers(kCondition));
  Shape places;
  for (size_t i = 0; i < flags.size(); ++i)
    if (flags[i] != 0) places.push_back(static_cast<int64_t>(i));
  if (places.empty()) {
    SliceOp none{Shape(shape.size(), 0), Shape(shape.size(), 1), shape};
    none.extents[axis] = 0;
    steps.add(none, {operand});
  } else {
    steps.add(GatherByOp{axis}, {operand, steps.integers({static_cast<int64_t>(places.size())}, places)});
  }
  return std::vector<ImportedOutput>{steps.finish()};
}

}  // namespace lathe
