#include "graph/onnx/quantized_products.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe {
namespace {

constexpr size_t kNone = SIZE_MAX;

// One factor of a product: the inputs of the node that hold its numbers, scale and zero point.
struct Factor {
  size_t numbers = 0;
  size_t scale = kNone;
  size_t zero = kNone;
};

class ProductSteps {
 public:
  explicit ProductSteps(const OnnxNode& node) : node_(node), steps_(node.input_count()) {}

  size_t add(GraphOp op, std::vector<size_t> reads) { return steps_.add(std::move(op), std::move(reads)); }
  size_t zip(ZipFunction function, size_t a, size_t b) { return add(ZipOp{function}, {a, b}); }
  size_t cast(DType to, size_t x) { return add(CastOp{to}, {x}); }
  std::vector<ImportedStep> finish() { return steps_.finish(); }

  // Whether the zero point is 0 whatever runs.
  bool is_zero(size_t input) const {
    if (input == kNone || !node_.has_input(input)) return true;
    if (!node_.is_constant(input)) return false;
    const auto numbers = node_.constant_numbers(input);
    return numbers && std::ranges::all_of(*numbers, [](double number) { return number == 0; });
  }
  // An input of one number, or of several along an axis with so many axes behind it. What has more axes than
  // one is left as it is.
  size_t placed(size_t input, size_t behind) {
    const Shape& shape = node_.shape(input);
    if (shape.size() > 1) return input;
    if (elements_of(shape) == 1) return shape.empty() ? input : add(ReshapeOp{{}}, {input});
    if (behind == 0) return input;
    Shape wider = shape;
    wider.insert(wider.end(), behind, 1);
    return add(ReshapeOp{wider}, {input});
  }
  size_t zero_point(size_t input, size_t behind) { return cast(DType::i32, placed(input, behind)); }
  // The numbers less their zero point.
  size_t centred(const Factor& factor, size_t behind) {
    const size_t wide = cast(DType::i32, factor.numbers);
    if (is_zero(factor.zero)) return wide;
    return zip(ZipFunction::sub, wide, zero_point(factor.zero, behind));
  }
  // The sum along axes, which stay with one place.
  size_t sum(size_t x, std::vector<size_t> axes) {
    ReduceOp op;
    op.function = ReduceFunction::sum;
    op.axes = std::move(axes);
    return add(op, {cast(DType::i32, x)});
  }
  size_t whole(int64_t number) { return steps_.constant(DType::i32, {}, {static_cast<double>(number)}); }
  // What the sums stand for, in the type of the result's zero point; `behind` as for `placed`.
  void requantize(size_t sums, size_t factors, const Factor& result, size_t behind) {
    const size_t scale = zip(ZipFunction::div, factors, placed(result.scale, behind));
    const size_t real = zip(ZipFunction::mul, cast(DType::f32, sums), scale);
    const size_t rounded = add(MapOp{MapFunction::round}, {real});
    const size_t zero = cast(DType::f32, placed(result.zero, behind));
    cast(node_.type(result.zero).dtype, zip(ZipFunction::add, rounded, zero));
  }
  const OnnxNode& node() const { return node_; }

 private:
  const OnnxNode& node_;
  StepList steps_;
};

// An Error unless the inputs are integers of 8 bits.
Status require_narrow(const OnnxNode& node, const Factor& a, const Factor& b) {
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
  const Shape& left = steps.node().shape(a.numbers);
  const Shape& right = steps.node().shape(b.numbers);
  if (left.size() < 2 || right.size() < 2)
    return steps.add(MatMulOp{}, {steps.centred(a, left.size() > 1 ? 1 : 0), steps.centred(b, 0)});
  size_t sums = steps.add(MatMulOp{}, {a.numbers, b.numbers});
  const bool left_is_zero = steps.is_zero(a.zero), right_is_zero = steps.is_zero(b.zero);
  if (!left_is_zero) {
    // Of b less its zero point, which leaves nothing to add for both.
    const size_t columns = steps.sum(b.numbers, {right.size() - 2});
    size_t centred = columns;
    if (!right_is_zero) {
      const size_t shift = steps.zip(ZipFunction::mul, steps.zero_point(b.zero, 0), steps.whole(left.back()));
      centred = steps.zip(ZipFunction::sub, columns, shift);
    }
    sums =
        steps.zip(ZipFunction::sub, sums, steps.zip(ZipFunction::mul, centred, steps.zero_point(a.zero, 1)));
  }
  if (!right_is_zero) {
    const size_t rows = steps.sum(a.numbers, {left.size() - 1});
    sums = steps.zip(ZipFunction::sub, sums, steps.zip(ZipFunction::mul, rows, steps.zero_point(b.zero, 0)));
  }
  return sums;
}

// Data beside the image stand for the zero point, and weights are less theirs; a bias is added to the sums.
Result<size_t> add_conv(ProductSteps& steps, OnnxNode& node, const Factor& x, const Factor& w, size_t bias) {
  LATHE_TRY(ConvOp op, import_conv_of(node, w.numbers));
  const size_t rank = node.shape(x.numbers).size();
  if (node.shape(w.numbers).size() != rank) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("data {} and weight {} must be [N, C, spatial...] and [M, C / groups, kernel...]",
                            to_string(node.shape(x.numbers)), to_string(node.shape(w.numbers))));
  }
  const bool has_bias = bias != kNone && node.has_input(bias);
  std::vector<size_t> reads{x.numbers, w.numbers};
  if (steps.is_zero(x.zero) && steps.is_zero(w.zero)) {
    if (has_bias) reads.push_back(bias);
    return steps.add(op, reads);
  }
  if (!steps.is_zero(w.zero) || !node.is_constant(x.zero)) {
    reads = {steps.centred(x, 0), steps.centred(w, rank - 1)};
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
  const Factor a{0, kNone, 2}, b{1, kNone, 3};
  LATHE_TRY_STATUS(require_narrow(node, a, b));
  ProductSteps steps(node);
  add_matmul(steps, a, b);
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_qlinear_matmul(OnnxNode& node) {
  const Factor a{0, 1, 2}, b{3, 4, 5}, result{kNone, 6, 7};
  LATHE_TRY_STATUS(require_narrow(node, a, b));
  ProductSteps steps(node);
  const size_t sums = add_matmul(steps, a, b);
  const size_t factors = steps.zip(ZipFunction::mul, steps.placed(a.scale, 1), steps.placed(b.scale, 0));
  steps.requantize(sums, factors, result, 1);
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_conv_integer(OnnxNode& node) {
  const Factor x{0, kNone, 2}, w{1, kNone, 3};
  LATHE_TRY_STATUS(require_narrow(node, x, w));
  ProductSteps steps(node);
  LATHE_TRY_STATUS(add_conv(steps, node, x, w, kNone));
  return std::vector<ImportedOutput>{steps.finish()};
}

ImportedOutputs import_qlinear_conv(OnnxNode& node) {
  const Factor x{0, 1, 2}, w{3, 4, 5}, result{kNone, 6, 7};
  LATHE_TRY_STATUS(require_narrow(node, x, w));
  ProductSteps steps(node);
  LATHE_TRY(const size_t sums, add_conv(steps, node, x, w, 8));
  const size_t behind = node.shape(x.numbers).size() - 2;
  const size_t factors = steps.zip(ZipFunction::mul, steps.placed(x.scale, 0), steps.placed(w.scale, behind));
  steps.requantize(sums, factors, result, 0);
  return std::vector<ImportedOutput>{steps.finish()};
}

}  // namespace lathe
