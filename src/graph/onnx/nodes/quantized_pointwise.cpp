#include "graph/onnx/nodes/quantized_pointwise.h"

#include <fmt/format.h>

#include "graph/onnx/nodes/product_steps.h"

namespace lathe {
namespace {

constexpr QuantizedInput kOperand{0, 1, 2}, kResult{kNoInput, 3, 4};

// Rounds what the last step gives, which is the node's only output.
std::vector<ImportedOutput> rounded(QuantizedSteps& steps, size_t reals, const QuantizedInput& result,
                                    size_t like) {
  steps.quantized(reals, result, steps.node().type(like).dtype);
  return {steps.finish()};
}

ImportedOutputs import_unary(OnnxNode& node, const GraphOp& op) {
  LATHE_TRY_STATUS(node.require_inputs({0, 1, 3}));
  QuantizedSteps steps(node);
  return rounded(steps, steps.add(op, {steps.dequantized(kOperand)}), kResult, 0);
}

Status require_channels_first(OnnxNode& node) {
  return require_attribute("channels_last", static_cast<double>(node.integer("channels_last", 0)), 0);
}

}  // namespace

ImportedOutputs import_qlinear_reduce_mean(OnnxNode& node) {
  LATHE_TRY(const ReduceOp op, import_reduce(node, ReduceFunction::mean));
  return import_unary(node, op);
}

// a * (scale of a / scale) + (b * (scale of b / scale) + what the zero points come to), as ONNX Runtime adds
// it up: what then lies halfway between two numbers becomes the same one.
ImportedOutputs import_qlinear_add(OnnxNode& node) {
  LATHE_TRY_STATUS(node.require_inputs({0, 1, 3, 4, 6}));
  QuantizedSteps steps(node);
  const size_t scale = steps.placed(6, 0);
  const auto zero_point = [&](size_t input) {
    return steps.is_zero(input) ? steps.real(0) : steps.cast(DType::f32, steps.placed(input, 0));
  };
  const auto number = [&](size_t input) { return steps.cast(DType::f32, steps.cast(DType::i32, input)); };
  const size_t of_a = steps.zip(ZipFunction::div, steps.placed(1, 0), scale);
  const size_t of_b = steps.zip(ZipFunction::div, steps.placed(4, 0), scale);
  const size_t zeros = steps.zip(ZipFunction::add, steps.zip(ZipFunction::mul, of_a, zero_point(2)),
                                 steps.zip(ZipFunction::mul, of_b, zero_point(5)));
  const size_t beyond = steps.zip(ZipFunction::sub, zero_point(7), zeros);
  const size_t with_b = steps.zip(ZipFunction::add, steps.zip(ZipFunction::mul, number(3), of_b), beyond);
  const size_t sums = steps.zip(ZipFunction::add, steps.zip(ZipFunction::mul, number(0), of_a), with_b);
  steps.cast(node.type(steps.has(7) ? 7 : 0).dtype, steps.map(MapFunction::round, sums));
  return std::vector<ImportedOutput>{steps.finish()};
}

// The integers are multiplied, as ONNX Runtime does it: what they stand for may be too large for f32, as the
// number that masks a score is, and infinity times 0 is none.
ImportedOutputs import_qlinear_mul(OnnxNode& node) {
  LATHE_TRY_STATUS(node.require_inputs({0, 1, 3, 4, 6}));
  LATHE_TRY_STATUS(require_narrow(node, {0, 3}));
  ProductSteps steps(node);
  const size_t product = steps.zip(ZipFunction::mul, steps.centred(0, 2, 0), steps.centred(3, 5, 0));
  const size_t scales = steps.zip(ZipFunction::mul, steps.placed(1, 0), steps.placed(4, 0));
  steps.requantize(product, scales, {kNoInput, 6, 7}, node.type(0).dtype, 0);
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_qlinear_sigmoid(OnnxNode& node) {
  return import_unary(node, MapOp{MapFunction::sigmoid});
}

ImportedOutputs import_qlinear_leaky_relu(OnnxNode& node) {
  LATHE_TRY(const MapOp op, import_leaky_relu(node));
  return import_unary(node, op);
}

ImportedOutputs import_qlinear_softmax(OnnxNode& node) {
  const size_t rank = node.shape(0).size();
  const bool one_axis = node.integer("opset", 13) >= 13;
  LATHE_TRY(const size_t axis, axis_of(node.integer("axis", -1), rank));
  SoftmaxOp op;
  op.axes = one_axis ? std::vector<size_t>{axis} : axes_from(axis, rank);
  return import_unary(node, op);
}

ImportedOutputs import_qlinear_average_pool(OnnxNode& node) {
  LATHE_TRY_STATUS(require_channels_first(node));
  LATHE_TRY(const AveragePoolOp op, import_average_pool(node));
  return import_unary(node, op);
}

ImportedOutputs import_qlinear_global_average_pool(OnnxNode& node) {
  LATHE_TRY_STATUS(require_channels_first(node));
  return import_unary(node, GlobalAveragePoolOp{});
}

ImportedOutputs import_qlinear_concat(OnnxNode& node) {
  constexpr size_t kFirst = 2, kInputsOfPart = 3;
  if (node.input_count() < kFirst + kInputsOfPart || (node.input_count() - kFirst) % kInputsOfPart != 0) {
    return fail(
        ErrorKind::invalid_argument,
        fmt::format("it has {} inputs, and must have two and three for each part", node.input_count()));
  }
  LATHE_TRY_STATUS(node.require_inputs({kFirst}));
  LATHE_TRY(const size_t axis, axis_of(node.integer("axis", 1), node.shape(kFirst).size()));
  QuantizedSteps steps(node);
  std::vector<size_t> parts;
  for (size_t input = kFirst; input < node.input_count(); input += kInputsOfPart) {
    LATHE_TRY_STATUS(node.require_inputs({0, input, input + 1}));
    parts.push_back(steps.dequantized({input, input + 1, input + 2}));
  }
  return rounded(steps, steps.add(ConcatOp{axis}, parts), {kNoInput, 0, 1}, kFirst);
}

ImportedOutputs import_qlinear_where(OnnxNode& node) {
  LATHE_TRY_STATUS(node.require_inputs({0, 1, 2, 4, 5, 7}));
  QuantizedSteps steps(node);
  const size_t a = steps.dequantized({1, 2, 3}), b = steps.dequantized({4, 5, 6});
  return rounded(steps, steps.add(WhereOp{}, {0, a, b}), {kNoInput, 7, 8}, 1);
}

}  // namespace lathe
