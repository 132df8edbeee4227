#include "graph/operators/lrn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/onnx/node.h"
#include "ops/axes.h"
#include "ops/window.h"

namespace lathe {

std::string attributes_of(const LrnOp& op) {
  return fmt::format("size {}, alpha {}, beta {}, bias {}", op.size, op.alpha, op.beta, op.bias);
}

Result<TensorType> infer(const LrnOp& op, std::span<const TensorType> inputs) {
  constexpr int64_t kLargestSize = int64_t{1} << 20;
  LATHE_TRY_STATUS(require_reals(inputs));
  const Shape& shape = inputs[0].shape;
  if (shape.size() < 2)
    return fail(ErrorKind::invalid_argument, fmt::format("{} is not [N, C, ..]", to_string(shape)));
  if (op.size >= 1 && op.size <= kLargestSize) return inputs[0];
  return fail(ErrorKind::invalid_argument,
              fmt::format("attribute 'size' is {}, and must be within 1 .. {}", op.size, kLargestSize));
}

Values evaluate(const LrnOp& op, std::span<const Values> inputs) {
  const Values& x = inputs[0];
  const int64_t channels = x.shape[1];
  const int64_t plane = elements_of(x.shape) / x.shape[0] / channels;
  Values result = x;
  for (int64_t i = 0; i < elements_of(x.shape); ++i) {
    const int64_t channel = i / plane % channels;
    const int64_t first = std::max<int64_t>(0, channel - (op.size - 1) / 2);
    const int64_t end = std::min(channels, channel - (op.size - 1) / 2 + op.size);
    double squares = 0;
    for (int64_t c = first; c < end; ++c) {
      const double other = x.data[static_cast<size_t>(i + (c - channel) * plane)];
      squares += other * other;
    }
    const double scale = op.bias + op.alpha / static_cast<double>(op.size) * squares;
    result.data[static_cast<size_t>(i)] /= std::pow(scale, op.beta);
  }
  return result;
}

Tensor lower(const LrnOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  const std::vector<Axis> axes = axes_of(x);
  Window window;
  // What lies beyond all channels adds nothing.
  const int64_t beside = axes[1].extent - 1;
  window.padding = {std::min((op.size - 1) / 2, beside)};
  window.padding_after = {std::min(op.size - 1 - (op.size - 1) / 2, beside)};
  const Tensor padded = pad(builder, x, 1, 1, window);
  const Axis tap = reduce("tap", window.padding[0] + window.padding_after[0] + 1);
  std::vector<Affine> index = indices(axes);
  index[1] += tap.var;
  const Expr element = load(padded, index);
  const Tensor squares = builder.compute("squares", axes, sum({tap}, element * element));
  const Expr scale =
      load(squares, indices(axes)) * real(op.alpha / static_cast<double>(op.size)) + real(op.bias);
  return builder.compute("normalised", axes,
                         load(x, indices(axes)) * binary(BinaryOp::pow, scale, real(-op.beta)));
}

Result<LrnOp> import_lrn(OnnxNode& node) {
  if (!node.has("size")) return fail(ErrorKind::invalid_argument, "it lacks the attribute 'size'");
  return LrnOp{node.integer("size", 1), node.real("alpha", 1e-4), node.real("beta", 0.75),
               node.real("bias", 1)};
}

}  // namespace lathe
