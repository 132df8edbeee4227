#include "graph/operators/conv.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "graph/onnx/node.h"
#include "ops/conv.h"

namespace lathe {
namespace {

bool is_narrow(DType dtype) { return dtype == DType::u8 || dtype == DType::i8; }

}  // namespace

bool fits_f32(int64_t terms, double bias) {
  constexpr double kMostProduct = 255 * 255;
  constexpr double kMostWhole = 1 << 24;
  return static_cast<double>(terms) * kMostProduct + bias <= kMostWhole;
}

PadOp pads_of(const ConvOp& op) {
  PadOp pad{{0, 0}, {0, 0}, PadMode::constant, op.beside};
  pad.before.insert(pad.before.end(), op.window.pads_before.begin(), op.window.pads_before.end());
  pad.after.insert(pad.after.end(), op.window.pads_after.begin(), op.window.pads_after.end());
  return pad;
}

ConvOp unpadded(ConvOp op) {
  std::ranges::fill(op.window.pads_before, 0);
  std::ranges::fill(op.window.pads_after, 0);
  op.beside = 0;
  return op;
}

std::string attributes_of(const ConvOp& op) {
  return to_string(op.window) + (op.groups == 1 ? "" : fmt::format(", groups {}", op.groups)) +
         (op.beside == 0 ? "" : fmt::format(", beside {}", op.beside)) +
         (op.sums_in_f32 ? ", sums in f32" : "");
}

Result<TensorType> infer(const ConvOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY(DType dtype, product_type(inputs));
  if (op.sums_in_f32) {
    const bool is_narrow_product = is_narrow(inputs[0].dtype) && is_narrow(inputs[1].dtype);
    LATHE_TRY_STATUS(require_type(inputs[0], 0, is_narrow_product, "i8 and u8"));
    dtype = DType::f32;
  }
  if (inputs.size() > 2) {
    LATHE_TRY_STATUS(require_type(inputs[2], 2, inputs[2].dtype == dtype, info_of(dtype).name));
  }
  const Shape& data = inputs[0].shape;
  const Shape& weight = inputs[1].shape;
  LATHE_TRY_STATUS(check_image(data));
  if (weight.size() != data.size()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("data {} and weight {} must be [N, C, spatial...] and [M, C / groups, kernel...]",
                            to_string(data), to_string(weight)));
  }
  if (op.groups < 1 || weight[0] % op.groups != 0 || data[1] % op.groups != 0 ||
      weight[1] != data[1] / op.groups) {
    return fail(ErrorKind::invalid_argument, fmt::format("data {} and weight {} do not fit {} group(s)",
                                                         to_string(data), to_string(weight), op.groups));
  }
  if (Shape(weight.begin() + 2, weight.end()) != op.window.kernel) {
    return fail(ErrorKind::invalid_argument, fmt::format("weight {} does not have the kernel {}",
                                                         to_string(weight), to_string(op.window.kernel)));
  }
  if (inputs.size() > 2 && inputs[2].shape != Shape{weight[0]}) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("bias has shape {}, and must be [{}]", to_string(inputs[2].shape), weight[0]));
  }
  LATHE_TRY(const Shape extents, output_extents(op.window, Shape(data.begin() + 2, data.end())));
  Shape shape{data[0], weight[0]};
  shape.insert(shape.end(), extents.begin(), extents.end());
  return TensorType{dtype, shape};
}

Values evaluate(const ConvOp& op, std::span<const Values> inputs) {
  if (op.beside != 0) {
    std::vector<Values> padded(inputs.begin(), inputs.end());
    padded[0] = evaluate(pads_of(op), inputs.first(1));
    padded[0].dtype = inputs[0].dtype;
    return evaluate(unpadded(op), padded);
  }
  const Values& data = inputs[0];
  const Values& weight = inputs[1];
  const Shape spatial(data.shape.begin() + 2, data.shape.end());
  const int64_t plane = elements_of(spatial), taps = elements_of(op.window.kernel);
  const int64_t channels = weight.shape[1], maps = weight.shape[0];
  const Shape extents = *output_extents(op.window, spatial);
  Values result{{data.shape[0], maps}, {}};
  result.shape.insert(result.shape.end(), extents.begin(), extents.end());
  for (int64_t n = 0; n < data.shape[0]; ++n) {
    for (int64_t m = 0; m < maps; ++m) {
      const int64_t group = m / (maps / op.groups);
      const double* image = data.data.data() + (n * data.shape[1] + group * channels) * plane;
      const double* kernel = weight.data.data() + m * channels * taps;
      Shape at(spatial.size(), 0);
      do {
        ProductSum sum(data.dtype);
        if (inputs.size() > 2) sum.add(inputs[2].data[static_cast<size_t>(m)], 1);
        for_each_tap(op.window, spatial, at, [&](const Shape& tap, const Shape& position) {
          const double* x = image + broadcast_offset(spatial, position);
          const double* w = kernel + broadcast_offset(op.window.kernel, tap);
          for (int64_t c = 0; c < channels; ++c) sum.add(x[c * plane], w[c * taps]);
        });
        result.data.push_back(sum.value());
      } while (next_index(at, extents));
    }
  }
  return result;
}

double steps_of(const ConvOp& op, std::span<const TensorType> inputs) {
  const Shape& weight = inputs[1].shape;
  return 8.0 * static_cast<double>(elements_of(infer(op, inputs)->shape)) *
         (static_cast<double>(elements_of(weight)) / static_cast<double>(weight[0]));
}

Tensor lower(const ConvOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  return conv(builder, "conv", operands[0], operands[1], ops_window(op.window), op.groups, op.beside,
              op.sums_in_f32 ? DType::f32 : DType::i32);
}

bool needs_epilogue(const ConvOp&, size_t operands) { return operands > 2; }

Expr epilogue(const ConvOp&, const Expr& value, const PointOperands& point) {
  return point.count() > 2 ? value + point.at_channel(2) : value;
}

Result<ConvOp> import_conv(OnnxNode& node) { return import_conv_of(node, 1); }

Result<ConvOp> import_conv_of(OnnxNode& node, size_t weights) {
  const Shape& weight = node.shape(weights);
  Shape kernel;
  if (weight.size() > 2) kernel.assign(weight.begin() + 2, weight.end());
  ConvOp op;
  op.groups = node.integer("group", 1);
  LATHE_TRY(op.window, import_window(node, kernel));
  return op;
}

}  // namespace lathe
