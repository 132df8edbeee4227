#include "graph/operators/conv_transpose.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/onnx/node.h"
#include "ops/conv_transpose.h"

namespace lathe {
namespace {

int64_t cut_behind(const ConvTransposeOp& op, size_t d) {
  return op.window.pads_after[d] - op.output_padding[d];
}

Result<Shape> extents_of(const ConvTransposeOp& op, const Shape& spatial) {
  Shape extents;
  for (size_t d = 0; d < spatial.size(); ++d) {
    const int64_t whole = (spatial[d] - 1) * op.window.strides[d] + reach(op.window, d);
    extents.push_back(whole - op.window.pads_before[d] - cut_behind(op, d));
    if (extents.back() >= 1) continue;
    return fail(ErrorKind::invalid_argument,
                fmt::format("its pads leave nothing of spatial axis {}, which has {}", d, whole));
  }
  return extents;
}

Status check_output_padding(const ConvTransposeOp& op) {
  if (op.output_padding.size() != op.window.kernel.size()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("output_padding {} has {} entries for {} spatial axes",
                            to_string(op.output_padding), op.output_padding.size(), op.window.kernel.size()));
  }
  for (size_t d = 0; d < op.output_padding.size(); ++d) {
    const int64_t step = std::max(op.window.strides[d], op.window.dilations[d]);
    if (op.output_padding[d] >= 0 && op.output_padding[d] < step) continue;
    return fail(ErrorKind::invalid_argument,
                fmt::format("output padding {} must be at least 0 and less than the strides {} or the "
                            "dilations {}",
                            to_string(op.output_padding), to_string(op.window.strides),
                            to_string(op.window.dilations)));
  }
  return {};
}

// The pads that make the result's extents those that are wanted, the larger half behind or in front. Where
// the result is to be larger than all that the kernels reach, what is missing comes behind.
Status set_pads(ConvTransposeOp& op, const Shape& spatial, const Shape& wanted, bool more_behind) {
  constexpr int64_t kLargestExtent = int64_t{1} << 30;
  if (wanted.size() != spatial.size()) {
    return fail(ErrorKind::invalid_argument, fmt::format("output_shape {} has {} entries for {} spatial axes",
                                                         to_string(wanted), wanted.size(), spatial.size()));
  }
  for (size_t d = 0; d < spatial.size(); ++d) {
    if (wanted[d] < 1 || wanted[d] > kLargestExtent)
      return fail(ErrorKind::invalid_argument, fmt::format("output_shape is {}", to_string(wanted)));
    const int64_t whole =
        (spatial[d] - 1) * op.window.strides[d] + op.output_padding[d] + reach(op.window, d);
    const int64_t total = std::max<int64_t>(0, whole - wanted[d]);
    op.output_padding[d] += std::max<int64_t>(0, wanted[d] - whole);
    op.window.pads_before[d] = more_behind ? total / 2 : total - total / 2;
    op.window.pads_after[d] = total - op.window.pads_before[d];
  }
  return {};
}

}  // namespace

std::string attributes_of(const ConvTransposeOp& op) {
  const bool adds = std::ranges::any_of(op.output_padding, [](int64_t extent) { return extent != 0; });
  return to_string(op.window) +
         (adds ? fmt::format(", output padding {}", to_string(op.output_padding)) : "") +
         (op.groups == 1 ? "" : fmt::format(", groups {}", op.groups));
}

Result<TensorType> infer(const ConvTransposeOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_reals(inputs));
  const Shape& data = inputs[0].shape;
  const Shape& weight = inputs[1].shape;
  LATHE_TRY_STATUS(check_image(data));
  LATHE_TRY_STATUS(check_window(op.window, data.size() - 2));
  if (weight.size() != data.size() || weight[0] != data[1]) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("data {} and weight {} must be [N, C, spatial...] and [C, M / groups, kernel...]",
                            to_string(data), to_string(weight)));
  }
  if (op.groups < 1 || data[1] % op.groups != 0) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the {} channels of {} are not {} groups", data[1], to_string(data), op.groups));
  }
  const int64_t maps = weight[1] * op.groups;
  if (Shape(weight.begin() + 2, weight.end()) != op.window.kernel) {
    return fail(ErrorKind::invalid_argument, fmt::format("weight {} does not have the kernel {}",
                                                         to_string(weight), to_string(op.window.kernel)));
  }
  if (inputs.size() > 2 && inputs[2].shape != Shape{maps}) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("bias has shape {}, and must be [{}]", to_string(inputs[2].shape), maps));
  }
  LATHE_TRY(const Shape extents, extents_of(op, Shape(data.begin() + 2, data.end())));
  Shape shape{data[0], maps};
  shape.insert(shape.end(), extents.begin(), extents.end());
  return TensorType{inputs[0].dtype, shape};
}

// Each element of the data adds a kernel to the result.
Values evaluate(const ConvTransposeOp& op, std::span<const Values> inputs) {
  const Values& data = inputs[0];
  const Values& weight = inputs[1];
  const Shape spatial(data.shape.begin() + 2, data.shape.end());
  const Shape extents = *extents_of(op, spatial);
  const int64_t channels = weight.shape[0], group_maps = weight.shape[1];
  const int64_t maps = group_maps * op.groups;
  Values result{{data.shape[0], maps}, {}};
  result.shape.insert(result.shape.end(), extents.begin(), extents.end());
  const int64_t plane = elements_of(extents);
  result.data.resize(static_cast<size_t>(data.shape[0] * maps * plane));
  for (size_t i = 0; inputs.size() > 2 && i < result.data.size(); ++i)
    result.data[i] = inputs[2].data[i / static_cast<size_t>(plane) % static_cast<size_t>(maps)];
  Shape at(data.shape.size(), 0);
  do {
    const double x = data.data[static_cast<size_t>(broadcast_offset(data.shape, at))];
    Shape tap(weight.shape.size(), 0);
    tap[0] = at[1];
    Shape place = result.shape;
    for (int64_t i = 0; i < elements_of(weight.shape) / channels; ++i) {
      place[0] = at[0];
      place[1] = at[1] / (channels / op.groups) * group_maps + tap[1];
      bool inside = true;
      for (size_t d = 0; d < spatial.size(); ++d) {
        place[d + 2] =
            at[d + 2] * op.window.strides[d] + tap[d + 2] * op.window.dilations[d] - op.window.pads_before[d];
        inside = inside && place[d + 2] >= 0 && place[d + 2] < extents[d];
      }
      const double w = weight.data[static_cast<size_t>(broadcast_offset(weight.shape, tap))];
      if (inside) result.data[static_cast<size_t>(broadcast_offset(result.shape, place))] += x * w;
      next_index(tap, weight.shape);
    }
  } while (next_index(at, data.shape));
  return result;
}

double steps_of(const ConvTransposeOp&, std::span<const TensorType> inputs) {
  const Shape& weight = inputs[1].shape;
  const int64_t of_channel = elements_of(weight) / weight[0];
  return 8.0 * static_cast<double>(elements_of(inputs[0].shape)) * static_cast<double>(of_channel);
}

Tensor lower(const ConvTransposeOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  Window window = ops_window(op.window);
  window.padding_after.clear();
  for (size_t d = 0; d < op.output_padding.size(); ++d) window.padding_after.push_back(cut_behind(op, d));
  return conv_transpose(builder, "conv", operands[0], operands[1], window, op.groups);
}

bool needs_epilogue(const ConvTransposeOp&, size_t operands) { return operands > 2; }

Expr epilogue(const ConvTransposeOp&, const Expr& value, const PointOperands& point) {
  return point.count() > 2 ? value + point.at_channel(2) : value;
}

Result<ConvTransposeOp> import_conv_transpose(OnnxNode& node) {
  const Shape& weight = node.shape(1);
  Shape kernel;
  if (weight.size() > 2) kernel.assign(weight.begin() + 2, weight.end());
  ConvTransposeOp op;
  op.groups = node.integer("group", 1);
  LATHE_TRY(op.window, import_window(node, kernel));
  const size_t rank = op.window.kernel.size();
  op.output_padding = node.integers("output_padding", Shape(rank, 0));
  LATHE_TRY_STATUS(check_output_padding(op));
  Shape wanted = node.integers("output_shape", {});
  const std::string automatic = node.text("auto_pad", "NOTSET");
  const Shape spatial(node.shape(0).begin() + 2, node.shape(0).end());
  if (wanted.empty() && !automatic.starts_with("SAME")) return op;
  const bool is_told = !wanted.empty();
  for (size_t d = 0; d < rank && !is_told; ++d) wanted.push_back(spatial[d] * op.window.strides[d]);
  LATHE_TRY_STATUS(set_pads(op, spatial, wanted, automatic == "SAME_UPPER"));
  return op;
}

}  // namespace lathe
