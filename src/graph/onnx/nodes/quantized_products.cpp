#include "graph/onnx/nodes/quantized_products.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/onnx/nodes/product_steps.h"

namespace lathe {
namespace {

// Data beside the image stand for the zero point, and weights are less theirs; a bias is added to the sums.
Result<size_t> add_conv(ProductSteps& steps, OnnxNode& node, const QuantizedInput& x, const QuantizedInput& w,
                        size_t bias) {
  LATHE_TRY(ConvOp op, import_conv_of(node, w.numbers));
  const size_t rank = node.shape(x.numbers).size();
  if (node.shape(w.numbers).size() != rank) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("data {} and weight {} must be [N, C, spatial...] and [M, C / groups, kernel...]",
                            to_string(node.shape(x.numbers)), to_string(node.shape(w.numbers))));
  }
  const bool has_bias = steps.has(bias);
  std::vector<size_t> reads{x.numbers, w.numbers};
  if (steps.is_zero(x.zero) && steps.is_zero(w.zero)) {
    if (has_bias) reads.push_back(bias);
    return steps.add(op, reads);
  }
  if (!steps.is_zero(w.zero) || !node.is_constant(x.zero)) {
    reads = {steps.centred(x.numbers, x.zero, 0), steps.centred(w.numbers, w.zero, rank - 1)};
    if (has_bias) reads.push_back(bias);
    return steps.add(op, reads);
  }
  LATHE_TRY(const std::vector<double> zero, node.constant_numbers(x.zero));
  op.beside = zero.front();
  const size_t weights =
      steps.add(ReshapeOp{{node.shape(w.numbers)[0]}}, {steps.sum(w.numbers, axes_from(1, rank))});
  const size_t shift = steps.zip(ZipFunction::mul, weights, steps.whole(-static_cast<int64_t>(zero.front())));
  reads.push_back(has_bias ? steps.zip(ZipFunction::add, shift, bias) : shift);
  return steps.add(op, reads);
}

}  // namespace

ImportedOutputs import_matmul_integer(OnnxNode& node) {
  const QuantizedInput a{0, kNoInput, 2}, b{1, kNoInput, 3};
  LATHE_TRY_STATUS(require_narrow(node, {a.numbers, b.numbers}));
  ProductSteps steps(node);
  steps.product(factor_of(node, a), factor_of(node, b));
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_qlinear_matmul(OnnxNode& node) {
  const QuantizedInput a{0, 1, 2}, b{3, 4, 5}, result{kNoInput, 6, 7};
  LATHE_TRY_STATUS(require_narrow(node, {a.numbers, b.numbers}));
  ProductSteps steps(node);
  const size_t sums = steps.product(factor_of(node, a), factor_of(node, b));
  const size_t factors = steps.zip(ZipFunction::mul, steps.placed(a.scale, 1), steps.placed(b.scale, 0));
  steps.requantize(sums, factors, result, DType::u8, 1);
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_conv_integer(OnnxNode& node) {
  const QuantizedInput x{0, kNoInput, 2}, w{1, kNoInput, 3};
  LATHE_TRY_STATUS(require_narrow(node, {x.numbers, w.numbers}));
  ProductSteps steps(node);
  LATHE_TRY_STATUS(add_conv(steps, node, x, w, kNoInput));
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_qlinear_conv(OnnxNode& node) {
  const QuantizedInput x{0, 1, 2}, w{3, 4, 5}, result{kNoInput, 6, 7};
  LATHE_TRY_STATUS(require_narrow(node, {x.numbers, w.numbers}));
  ProductSteps steps(node);
  LATHE_TRY(const size_t sums, add_conv(steps, node, x, w, 8));
  const size_t behind = node.shape(x.numbers).size() - 2;
  const size_t factors = steps.zip(ZipFunction::mul, steps.placed(x.scale, 0), steps.placed(w.scale, behind));
  steps.requantize(sums, factors, result, DType::u8, 0);
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_qgemm(OnnxNode& node) {
  constexpr size_t kBias = 6;
  LATHE_TRY_STATUS(node.require_inputs({0, 1, 3, 4}));
  const QuantizedInput a{0, 1, 2}, b{3, 4, 5}, result{kNoInput, 7, 8};
  LATHE_TRY_STATUS(require_narrow(node, {a.numbers, b.numbers}));
  ProductSteps steps(node);
  const auto matrix = [&](const QuantizedInput& input, const char* turned) {
    Factor factor = factor_of(node, input);
    if (node.integer(turned, 0) == 0 || factor.shape.size() != 2) return factor;
    factor.matrix = steps.add(TransposeOp{{1, 0}}, {factor.matrix});
    std::swap(factor.shape[0], factor.shape[1]);
    return factor;
  };
  const Factor left = matrix(a, "transA"), right = matrix(b, "transB");
  if (left.shape.size() != 2 || right.shape.size() != 2)
    return fail(ErrorKind::invalid_argument, "its factors are not matrices");
  size_t sums = steps.product(left, right);
  if (steps.has(kBias)) sums = steps.zip(ZipFunction::add, sums, kBias);
  size_t factors = steps.zip(ZipFunction::mul, steps.placed(a.scale, 0), steps.placed(b.scale, 0));
  if (const double alpha = node.real("alpha", 1); alpha != 1)
    factors = steps.zip(ZipFunction::mul, factors, steps.real(alpha));
  if (steps.has(result.scale))
    steps.requantize(sums, factors, result, node.type(a.numbers).dtype, 0);
  else
    steps.zip(ZipFunction::mul, steps.cast(DType::f32, sums), factors);
  return std::vector<ImportedOutput>{steps.finish()};
}

}  // namespace lathe
