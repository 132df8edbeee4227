#include "graph/onnx/nodes/quantize.h"

#include <fmt/format.h>

#include "graph/onnx/nodes/node_steps.h"

namespace lathe {

namespace {

constexpr size_t kNumbers = 0, kScales = 1, kZeroPoints = 2;

class QuantizeSteps {
 public:
  explicit QuantizeSteps(const OnnxNode& node) : node_(node), steps_(node.input_count()) {}

  // Where scales and zero points of several numbers lie along the data; an Error where they do not.
  Status read_axis(OnnxNode& node) {
    const int64_t axis = node.integer("axis", 1);
    block_ = node.integer("block_size", 0);
    if (block_ != 0) return check_blocks(axis);
    for (size_t operand = kScales; operand < node.input_count(); ++operand) {
      if (!node.has_input(operand) || elements_of(node.shape(operand)) == 1) continue;
      LATHE_TRY(axis_, axis_of(axis, node.shape(kNumbers).size()));
      if (node.shape(operand) == Shape{node.shape(kNumbers)[axis_]}) continue;
      return fail(ErrorKind::invalid_argument,
                  fmt::format("input {} has shape {}, and the data {} has {} places along axis {}", operand,
                              to_string(node.shape(operand)), to_string(node.shape(kNumbers)),
                              node.shape(kNumbers)[axis_], axis_));
    }
    return {};
  }

  size_t zip(ZipFunction function, size_t a, size_t b) { return steps_.add(ZipOp{function}, {a, b}); }
  size_t map(MapFunction function, size_t x) { return steps_.add(MapOp{function}, {x}); }
  size_t cast(DType to, size_t x) { return steps_.add(CastOp{to}, {x}); }
  size_t add(const GraphOp& op, size_t x) { return steps_.add(op, {x}); }

  // The operand in the type and in a shape that broadcasts along the data.
  size_t parameter(size_t operand, DType type) {
    if (block_ != 0) {
      const size_t spread = steps_.add(GatherByOp{axis_}, {operand, block_numbers()});
      return node_.type(operand).dtype == type ? spread : cast(type, spread);
    }
    Shape shape(node_.shape(kNumbers).size(), 1);
    if (elements_of(node_.shape(operand)) > 1) shape[axis_] = node_.shape(operand)[0];
    const size_t placed = shape == node_.shape(operand) ? operand : steps_.add(ReshapeOp{shape}, {operand});
    return node_.type(operand).dtype == type ? placed : cast(type, placed);
  }
  size_t data(DType type) { return node_.type(kNumbers).dtype == type ? kNumbers : cast(type, kNumbers); }

  std::vector<ImportedStep> finish() { return steps_.finish(); }

 private:
  // Of blocks the scales and zero points have as many axes as the data.
  Status check_blocks(int64_t axis) {
    LATHE_TRY(axis_, axis_of(axis, node_.shape(kNumbers).size()));
    Shape expected = node_.shape(kNumbers);
    if (block_ > 0) expected[axis_] = (expected[axis_] - 1) / block_ + 1;
    for (size_t operand = kScales; operand < node_.input_count(); ++operand) {
      if (!node_.has_input(operand) || (block_ > 0 && node_.shape(operand) == expected)) continue;
      return fail(ErrorKind::invalid_argument,
                  fmt::format("input {} has shape {}, and by blocks of {} along axis {} of {} must have {}",
                              operand, to_string(node_.shape(operand)), block_, axis_,
                              to_string(node_.shape(kNumbers)), to_string(expected)));
    }
    return {};
  }
  // Of each place of the axis the block that it lies in.
  size_t block_numbers() {
    Shape numbers(static_cast<size_t>(node_.shape(kNumbers)[axis_]));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i) / block_;
    return steps_.integers({static_cast<int64_t>(numbers.size())}, numbers);
  }

  const OnnxNode& node_;
  StepList steps_;
  size_t axis_ = 0;
  int64_t block_ = 0;  // places of the axis that share a scale; 0: they do not
};

// What numbers are quantised to.
struct Quantised {
  DType type = DType::u8;
  std::optional<Code> code = {};
};

// That of the zero point, where there is one.
Result<Quantised> quantised_type(OnnxNode& node) {
  const int64_t given = node.integer("output_dtype", 0);
  if (node.has_input(kZeroPoints)) return Quantised{node.type(kZeroPoints).dtype, node.code(kZeroPoints)};
  if (const std::optional<Code> code = code_of_onnx(given)) return Quantised{held_in(*code), code};
  if (given == 0) return Quantised{};
  LATHE_TRY(const DType type, dtype_of_onnx(given, "attribute 'output_dtype'"));
  return Quantised{type, {}};
}

}  // namespace

ImportedOutputs import_quantize_linear(OnnxNode& node) {
  QuantizeSteps steps(node);
  LATHE_TRY_STATUS(steps.read_axis(node));
  const bool saturates = node.integer("saturate", 1) != 0;
  node.integer("precision", 0);  // what is divided is f32 in any case
  LATHE_TRY(const Quantised to, quantised_type(node));
  const size_t quotient =
      steps.zip(ZipFunction::div, steps.data(DType::f32), steps.parameter(kScales, DType::f32));
  size_t result = is_float(to.type) ? quotient : steps.map(MapFunction::round, quotient);
  if (node.has_input(kZeroPoints))
    result = steps.zip(ZipFunction::add, result, steps.parameter(kZeroPoints, DType::f32));
  if (to.code && !is_float(to.type)) {
    const Interval ends = integers_of(*to.code);
    result = steps.add(MapOp{MapFunction::clip, static_cast<double>(ends.lo), static_cast<double>(ends.hi)},
                       result);
  }
  if (!is_float(to.type)) result = steps.cast(to.type, result);
  if (to.code) steps.add(RoundToCodeOp{*to.code, saturates}, result);
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_dequantize_linear(OnnxNode& node) {
  QuantizeSteps steps(node);
  LATHE_TRY_STATUS(steps.read_axis(node));
  DType to = node.declared(kScales);
  if (const int64_t given = node.integer("output_dtype", 0); given != 0) {
    LATHE_TRY(to, dtype_of_onnx(given, "attribute 'output_dtype'"));
  }
  const DType between = is_float(node.type(kNumbers).dtype) ? DType::f32 : DType::i32;
  size_t difference = steps.data(between);
  if (node.has_input(kZeroPoints))
    difference = steps.zip(ZipFunction::sub, difference, steps.parameter(kZeroPoints, between));
  const size_t result =
      steps.zip(ZipFunction::mul, between == DType::f32 ? difference : steps.cast(DType::f32, difference),
                steps.parameter(kScales, DType::f32));
  if (to != DType::f32) steps.cast(to, result);
  return std::vector<ImportedOutput>{steps.finish()};
}

QuantizedInput add_dynamic_quantization(StepList& steps, size_t x, size_t rank) {
  constexpr double kMost = 255;
  const auto zip = [&](ZipFunction function, size_t a, size_t b) {
    return steps.add(ZipOp{function}, {a, b});
  };
  const auto map = [&](MapFunction function, size_t a) { return steps.add(MapOp{function}, {a}); };
  const auto extremum = [&](ReduceFunction function) {
    ReduceOp op;
    op.function = function;
    op.axes = axes_from(0, rank);
    op.keeps_axes = false;
    return rank == 0 ? x : steps.add(op, {x});
  };
  const size_t most = zip(ZipFunction::max, extremum(ReduceFunction::max), steps.real(0));
  const size_t least = zip(ZipFunction::min, extremum(ReduceFunction::min), steps.real(0));
  const size_t scale = zip(ZipFunction::div, zip(ZipFunction::sub, most, least), steps.real(kMost));
  const size_t zero = map(MapFunction::round, zip(ZipFunction::div, map(MapFunction::negate, least), scale));
  const size_t quotient = map(MapFunction::round, zip(ZipFunction::div, x, scale));
  const size_t numbers = steps.add(CastOp{DType::u8}, {zip(ZipFunction::add, quotient, zero)});
  return {numbers, scale, steps.add(CastOp{DType::u8}, {zero})};
}

ImportedOutputs import_dynamic_quantize_linear(OnnxNode& node) {
  NodeSteps steps(1);
  const QuantizedInput result = add_dynamic_quantization(steps.list(), 0, node.shape(0).size());
  for (const size_t output : {result.numbers, result.scale, result.zero}) steps.give(output);
  return steps.outputs();
}

}  // namespace lathe
