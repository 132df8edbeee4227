#include "graph/onnx/nodes/quantize.h"

#include <fmt/format.h>

namespace lathe {

namespace {

constexpr size_t kNumbers = 0, kScales = 1, kZeroPoints = 2;

class QuantizeSteps {
 public:
  explicit QuantizeSteps(const OnnxNode& node) : node_(node), steps_(node.input_count()) {}

  // Where scales and zero points of several numbers lie along the data; an Error where they do not.
  Status read_axis(OnnxNode& node) {
    const int64_t axis = node.integer("axis", 1), block = node.integer("block_size", 0);
    if (block != 0) {
      return fail(ErrorKind::unsupported,
                  fmt::format("its scale is one for each {} elements, and Lathe supports one number, or one "
                              "for each place of an axis",
                              block));
    }
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
  size_t same(size_t x) { return steps_.add(IdentityOp{}, {x}); }
  size_t real(double value) { return steps_.real(value); }
  size_t add(const GraphOp& op, size_t x) { return steps_.add(op, {x}); }

  // The operand in the type and in a shape that broadcasts along the data.
  size_t parameter(size_t operand, DType type) {
    Shape shape(node_.shape(kNumbers).size(), 1);
    if (elements_of(node_.shape(operand)) > 1) shape[axis_] = node_.shape(operand)[0];
    const size_t placed = shape == node_.shape(operand) ? operand : steps_.add(ReshapeOp{shape}, {operand});
    return node_.type(operand).dtype == type ? placed : cast(type, placed);
  }
  size_t data(DType type) { return node_.type(kNumbers).dtype == type ? kNumbers : cast(type, kNumbers); }

  // Over all elements.
  size_t extremum(ReduceFunction function) {
    ReduceOp op;
    op.function = function;
    op.axes = axes_from(0, node_.shape(kNumbers).size());
    op.keeps_axes = false;
    return op.axes.empty() ? kNumbers : steps_.add(op, {kNumbers});
  }

  std::vector<ImportedStep> finish() { return steps_.finish(); }

 private:
  const OnnxNode& node_;
  StepList steps_;
  size_t axis_ = 0;
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

// The zero point stands for 0, which the range is widened to hold.
ImportedOutputs import_dynamic_quantize_linear(OnnxNode& node) {
  constexpr double kMost = 255;
  QuantizeSteps steps(node);
  const size_t most = steps.zip(ZipFunction::max, steps.extremum(ReduceFunction::max), steps.real(0));
  const size_t least = steps.zip(ZipFunction::min, steps.extremum(ReduceFunction::min), steps.real(0));
  const size_t range = steps.zip(ZipFunction::sub, most, least);
  const size_t scale = steps.zip(ZipFunction::div, range, steps.real(kMost));
  const size_t zero = steps.map(MapFunction::round,
                                steps.zip(ZipFunction::div, steps.map(MapFunction::negate, least), scale));
  const size_t quotient = steps.map(MapFunction::round, steps.zip(ZipFunction::div, kNumbers, scale));
  steps.cast(DType::u8, steps.zip(ZipFunction::add, quotient, zero));
  std::vector<ImportedOutput> outputs{steps.finish()};
  steps.same(scale);
  outputs.emplace_back(steps.finish());
  steps.cast(DType::u8, zero);
  outputs.emplace_back(steps.finish());
  return outputs;
}

}  // namespace lathe
