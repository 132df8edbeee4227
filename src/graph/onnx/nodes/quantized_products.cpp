#include "graph/onnx/nodes/quantized_products.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/onnx/nodes/quantized_steps.h"

namespace lathe {
namespace {

// A factor of a matrix product: what its zero point and scale say of, its numbers as they are multiplied, and
// their shape.
struct Factor : QuantizedInput {
  size_t matrix = kNoInput;
  Shape shape;
};

Factor factor_of(const OnnxNode& node, const QuantizedInput& input) {
  return {input, input.numbers, node.shape(input.numbers)};
}

class ProductSteps : public QuantizedSteps {
 public:
  using QuantizedSteps::QuantizedSteps;

  size_t zero_point(size_t input, size_t behind) { return cast(DType::i32, placed(input, behind)); }
  // The numbers less their zero point.
  size_t centred(size_t numbers, size_t zero, size_t behind) {
    const size_t wide = cast(DType::i32, numbers);
    return is_zero(zero) ? wide : zip(ZipFunction::sub, wide, zero_point(zero, behind));
  }
  // The sum along axes, which stay with one place.
  size_t sum(size_t x, std::vector<size_t> axes) {
    ReduceOp op;
    op.function = ReduceFunction::sum;
    op.axes = std::move(axes);
    return add(op, {cast(DType::i32, x)});
  }
  // What the sums stand for, in the type of the result's zero point; `behind` as for `placed`.
  void requantize(size_t sums, size_t factors, const QuantizedInput& result, DType type, size_t behind) {
    const size_t scale = zip(ZipFunction::div, factors, placed(result.scale, behind));
    rounded(zip(ZipFunction::mul, cast(DType::f32, sums), scale), result, type, behind);
  }
};

// An Error unless the inputs are integers of 8 bits.
Status require_narrow(const OnnxNode& node, const QuantizedInput& a, const QuantizedInput& b) {
  for (const size_t input : {a.numbers, b.numbers}) {
    const DType dtype = node.type(input).dtype;
    if (dtype == DType::i8 || dtype == DType::u8) continue;
    return fail(
        ErrorKind::unsupported,
        fmt::format("input {} is of type {}, and Lathe supports i8 and u8 here", input, to_string(dtype)));
  }
  return {};
}

// sum (a - p) (b - q) = sum a b - p sum b - q sum a + k p q.
size_t add_matmul(ProductSteps& steps, const Factor& a, const Factor& b) {
  const Shape &left = a.shape, &right = b.shape;
  if (left.size() < 2 || right.size() < 2) {
    return steps.add(MatMulOp{}, {steps.centred(a.matrix, a.zero, left.size() > 1 ? 1 : 0),
                                  steps.centred(b.matrix, b.zero, 0)});
  }
  size_t sums = steps.add(MatMulOp{}, {a.matrix, b.matrix});
  const bool left_is_zero = steps.is_zero(a.zero), right_is_zero = steps.is_zero(b.zero);
  if (!left_is_zero) {
    // Of b less its zero point, which leaves nothing to add for both.
    const size_t columns = steps.sum(b.matrix, {right.size() - 2});
    size_t centred = columns;
    if (!right_is_zero) {
      const size_t shift = steps.zip(ZipFunction::mul, steps.zero_point(b.zero, 0), steps.whole(left.back()));
      centred = steps.zip(ZipFunction::sub, columns, shift);
    }
    sums =
        steps.zip(ZipFunction::sub, sums, steps.zip(ZipFunction::mul, centred, steps.zero_point(a.zero, 1)));
  }
  if (!right_is_zero) {
    const size_t rows = steps.sum(a.matrix, {left.size() - 1});
    sums = steps.zip(ZipFunction::sub, sums, steps.zip(ZipFunction::mul, rows, steps.zero_point(b.zero, 0)));
  }
  return sums;
}

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
  const auto is_padded = [](int64_t pad) { return pad != 0; };
  SlidingWindow& window = op.window;
  if (std::ranges::any_of(window.pads_before, is_padded) ||
      std::ranges::any_of(window.pads_after, is_padded)) {
    PadOp pad{{0, 0}, {0, 0}, PadMode::constant, zero.front()};
    for (Shape* pads : {&window.pads_before, &window.pads_after}) {
      Shape& to = pads == &window.pads_before ? pad.before : pad.after;
      to.insert(to.end(), pads->begin(), pads->end());
      std::ranges::fill(*pads, 0);
    }
    reads[0] = steps.add(pad, {x.numbers});
  }
  const size_t weights =
      steps.add(ReshapeOp{{node.shape(w.numbers)[0]}}, {steps.sum(w.numbers, axes_from(1, rank))});
  const size_t shift = steps.zip(ZipFunction::mul, weights, steps.whole(-static_cast<int64_t>(zero.front())));
  reads.push_back(has_bias ? steps.zip(ZipFunction::add, shift, bias) : shift);
  return steps.add(op, reads);
}

}  // namespace

ImportedOutputs import_matmul_integer(OnnxNode& node) {
  const QuantizedInput a{0, kNoInput, 2}, b{1, kNoInput, 3};
  LATHE_TRY_STATUS(require_narrow(node, a, b));
  ProductSteps steps(node);
  add_matmul(steps, factor_of(node, a), factor_of(node, b));
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_qlinear_matmul(OnnxNode& node) {
  const QuantizedInput a{0, 1, 2}, b{3, 4, 5}, result{kNoInput, 6, 7};
  LATHE_TRY_STATUS(require_narrow(node, a, b));
  ProductSteps steps(node);
  const size_t sums = add_matmul(steps, factor_of(node, a), factor_of(node, b));
  const size_t factors = steps.zip(ZipFunction::mul, steps.placed(a.scale, 1), steps.placed(b.scale, 0));
  steps.requantize(sums, factors, result, DType::u8, 1);
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_conv_integer(OnnxNode& node) {
  const QuantizedInput x{0, kNoInput, 2}, w{1, kNoInput, 3};
  LATHE_TRY_STATUS(require_narrow(node, x, w));
  ProductSteps steps(node);
  LATHE_TRY_STATUS(add_conv(steps, node, x, w, kNoInput));
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_qlinear_conv(OnnxNode& node) {
  const QuantizedInput x{0, 1, 2}, w{3, 4, 5}, result{kNoInput, 6, 7};
  LATHE_TRY_STATUS(require_narrow(node, x, w));
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
  LATHE_TRY_STATUS(require_narrow(node, a, b));
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
  size_t sums = add_matmul(steps, left, right);
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
