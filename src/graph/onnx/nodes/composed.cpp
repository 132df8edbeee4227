#include "graph/onnx/nodes/composed.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace lathe {

namespace {

GraphOp reduction(ReduceFunction function, const std::vector<size_t>& axes) {
  ReduceOp op;
  op.function = function;
  op.axes = axes;
  return op;
}

}  // namespace

size_t add_root_mean_square(StepList& steps, size_t x, const std::vector<size_t>& axes, const Shape& shape,
                            double epsilon) {
  double elements = 1;
  for (const size_t axis : axes) elements *= static_cast<double>(shape[axis]);
  const size_t squares = steps.add(reduction(ReduceFunction::sum_square, axes), {x});
  const size_t mean = steps.add(ZipOp{ZipFunction::div}, {squares, steps.real(elements)});
  const size_t positive = steps.add(ZipOp{ZipFunction::add}, {mean, steps.real(epsilon)});
  return steps.add(MapOp{MapFunction::sqrt}, {positive});
}

void add_statistics(StepList& steps, size_t x, const std::vector<size_t>& axes, const Shape& shape,
                    double epsilon, std::vector<ImportedOutput>& outputs) {
  const size_t mean = steps.add(reduction(ReduceFunction::mean, axes), {x});
  outputs.emplace_back(steps.finish());
  const size_t centred = steps.add(ZipOp{ZipFunction::sub}, {x, mean});
  const size_t deviation = add_root_mean_square(steps, centred, axes, shape, epsilon);
  steps.add(MapOp{MapFunction::reciprocal}, {deviation});
  outputs.emplace_back(steps.finish());
}

ImportedOutputs import_dropout_outputs(OnnxNode& node) {
  LATHE_TRY(const IdentityOp op, import_dropout(node));
  StepList steps(1);  // how much is dropped in training is no operand
  steps.add(op, {0});
  std::vector<ImportedOutput> outputs{steps.finish()};
  if (node.output_count() < 2) return outputs;
  // Before operator set 10 the mask is of the operand's type.
  const DType dtype = node.operator_set() < 10 ? DType::f32 : DType::boolean;
  const size_t kept = steps.add(OnnxConstant{{dtype, {}}, to_bytes(dtype, std::vector<double>{1})});
  steps.add(ExpandOp{node.shape(0)}, {kept});
  outputs.emplace_back(steps.finish());
  return outputs;
}

ImportedOutputs import_layer_norm_outputs(OnnxNode& node) {
  LATHE_TRY(const LayerNormOp op, import_layer_norm(node));
  const std::vector<size_t> axes = axes_from(op.axis, node.shape(0).size());
  StepList steps(node.input_count());
  std::vector<size_t> operands(node.input_count());
  std::iota(operands.begin(), operands.end(), size_t{0});
  steps.add(op, operands);
  std::vector<ImportedOutput> outputs{steps.finish()};
  add_statistics(steps, 0, axes, node.shape(0), op.epsilon, outputs);
  return outputs;
}

ImportedOutputs import_one_hot(OnnxNode& node) {
  constexpr size_t kIndices = 0, kDepth = 1, kNumbers = 2;
  const Shape& indices = node.shape(kIndices);
  LATHE_TRY(const size_t axis, axis_of(node.integer("axis", -1), indices.size() + 1));
  LATHE_TRY(const std::vector<double> depths, node.constant_numbers(kDepth));
  const auto depth = static_cast<int64_t>(depths.size() == 1 ? depths.front() : 0);
  if (depth < 1 || node.shape(kNumbers) != Shape{2})
    return fail(ErrorKind::invalid_argument,
                "its depth is not one number above 0, or its values are not two");
  StepList steps(node.input_count());
  const auto zip = [&](ZipFunction function, size_t a, size_t b) {
    return steps.add(ZipOp{function}, {a, b});
  };
  constexpr int64_t kMostDepth = int64_t{1} << 24;
  if (depth > kMostDepth) {
    return fail(ErrorKind::unsupported,
                fmt::format("its depth is {}, and Lathe supports at most {}", depth, kMostDepth));
  }
  Shape wider = indices;
  wider.insert(wider.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  const bool is_wide = node.type(kIndices).dtype == DType::i64;
  const size_t given = is_wide ? kIndices : steps.add(CastOp{DType::i64}, {kIndices});
  const size_t index = steps.add(ReshapeOp{wider}, {given});
  const size_t from_end = zip(ZipFunction::add, index, steps.integers({}, {depth}));
  const size_t place =
      steps.add(WhereOp{}, {zip(ZipFunction::less, index, steps.integers({}, {0})), from_end, index});
  Shape line(wider.size(), 1);
  line[axis] = depth;
  Shape places(static_cast<size_t>(depth));
  std::iota(places.begin(), places.end(), int64_t{0});
  const size_t is_there = zip(ZipFunction::equal, place, steps.integers(line, places));
  const auto number = [&](int64_t which) {
    return steps.add(ReshapeOp{{}}, {steps.add(SliceOp{{which}, {1}, {1}}, {kNumbers})});
  };
  const size_t result = steps.add(WhereOp{}, {is_there, number(1), number(0)});
  // The type of the numbers, whatever that of the depth is.
  if (const DType own = node.declared(kNumbers); is_float(own) && own != DType::f32)
    steps.add(CastOp{own}, {result});
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_swiglu(OnnxNode& node) {
  StepList steps(node.input_count());
  LATHE_TRY(const MapOp swish, import_swish(node));
  steps.add(ZipOp{ZipFunction::mul}, {steps.add(swish, {0}), 1});
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_affine_grid(OnnxNode& node) {
  const Shape& matrices = node.shape(0);
  const bool aligns = node.integer("align_corners", 0) != 0;
  LATHE_TRY(const Shape size, node.constant_integers(1));
  const auto spatial = static_cast<int64_t>(size.size()) - 2;
  const bool fit = spatial >= 2 && spatial <= 3 && matrices == Shape{size[0], spatial, spatial + 1};
  const Shape places = fit ? Shape(size.begin() + 2, size.end()) : Shape{};
  if (!fit) {
    return fail(ErrorKind::invalid_argument, fmt::format("its matrices {} and size {} do not fit together",
                                                         to_string(matrices), to_string(size)));
  }
  constexpr int64_t kMostPlaces = int64_t{1} << 26;
  LATHE_TRY_STATUS(check_shape(places, "its result"));
  if (elements_of(places) > kMostPlaces)
    return fail(ErrorKind::unsupported, "its result " + to_string(places) + " is too large");
  // Each place's coordinates, the last axis' first, and a one.
  std::vector<double> coordinates;
  Shape at(places.size(), 0);
  do {
    for (size_t d = places.size(); d-- > 0;) {
      const auto extent = static_cast<double>(places[d]), y = static_cast<double>(at[d]);
      coordinates.push_back(aligns ? 2 * y / std::max(1.0, extent - 1) - 1 : (2 * y + 1) / extent - 1);
    }
    coordinates.push_back(1);
  } while (next_index(at, places));
  StepList steps(1);
  const size_t grid = steps.constant(DType::f32, {elements_of(places), spatial + 1}, coordinates);
  TransposeOp turned;
  turned.order = {0, 2, 1};
  const size_t moved = steps.add(MatMulOp{}, {grid, steps.add(turned, {0})});
  Shape shape = {size[0]};
  shape.insert(shape.end(), places.begin(), places.end());
  shape.push_back(spatial);
  steps.add(ReshapeOp{shape}, {moved});
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_rms_norm(OnnxNode& node) {
  const size_t rank = node.shape(0).size();
  LATHE_TRY(const size_t axis, axis_of(node.integer("axis", -1), rank));
  LATHE_TRY_STATUS(require_attribute("stash_type", static_cast<double>(node.integer("stash_type", 1)), 1));
  const double epsilon = node.real("epsilon", 1e-5);
  StepList steps(node.input_count());
  const size_t root = add_root_mean_square(steps, 0, axes_from(axis, rank), node.shape(0), epsilon);
  const size_t normalised = steps.add(ZipOp{ZipFunction::div}, {0, root});
  steps.add(ZipOp{ZipFunction::mul}, {normalised, 1});
  return std::vector<ImportedOutput>{steps.finish()};
}

}  // namespace lathe
