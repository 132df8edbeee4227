#include "bench/peers/onednn_convolution.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace lathe::peers {
namespace {

struct Kind {
  std::string_view op;
  size_t dimensions = 2;
  bool is_transposed = false;
  bool is_depthwise = false;
  bool is_fused = false;
};

constexpr std::array kKinds = {
    Kind{.op = "conv1d", .dimensions = 1},
    Kind{.op = "conv2d"},
    Kind{.op = "conv3d", .dimensions = 3},
    Kind{.op = "conv2d_winograd"},
    Kind{.op = "conv2d_bn_relu", .is_fused = true},
    Kind{.op = "depthwise_conv2d", .is_depthwise = true},
    Kind{.op = "conv1d_transpose", .dimensions = 1, .is_transposed = true},
    Kind{.op = "conv2d_transpose", .is_transposed = true},
    Kind{.op = "conv3d_transpose", .dimensions = 3, .is_transposed = true},
};

// The names of an input's extents.
std::vector<const char*> extent_names(size_t dimensions) {
  if (dimensions == 1) return {"length"};
  if (dimensions == 2) return {"height", "width"};
  return {"depth", "height", "width"};
}

// The channels of input, weights and output, the batch before them.
Convolution without_window(const Kind& kind, const Entry& entry) {
  Convolution result{.is_transposed = kind.is_transposed, .is_fused = kind.is_fused};
  const int64_t channels = entry[kind.is_depthwise ? "channels" : "in_channels"];
  const int64_t outputs =
      kind.is_depthwise ? channels * entry.value_or("multiplier", 1) : entry["out_channels"];
  const int64_t groups = kind.is_depthwise ? channels : entry.value_or("groups", 1);
  result.input = {entry["batch"], channels};
  result.output = {entry["batch"], outputs};
  result.weights = {outputs / groups, channels / groups};
  if (groups > 1) result.weights.insert(result.weights.begin(), groups);
  return result;
}

// Its weights lie with the input's channels first.
dnnl::memory::desc transposed_weights(const Dims& weights) {
  Dims strides(weights.size(), 1);
  for (size_t d = weights.size() - 1; d-- > 2;) strides[d] = strides[d + 1] * weights[d + 1];
  strides[0] = strides[2] * weights[2];
  strides[1] = strides[0] * weights[0];
  return {weights, dnnl::memory::data_type::f32, strides};
}

template <class Primitive>
Plan plan_of(const Convolution& c, const Request& request, dnnl::algorithm algorithm,
             const dnnl::engine& engine) {
  const typename Primitive::primitive_desc chosen(
      typename Primitive::desc(dnnl::prop_kind::forward_inference, algorithm, any_layout(c.input),
                               any_layout(c.weights), any_layout(c.output), c.strides, c.dilations, c.padding,
                               c.padding),
      engine);
  Plan plan{.primitive = Primitive(chosen), .output = chosen.dst_desc(), .output_shape = c.output};
  plan.operands = {operand_of(DNNL_ARG_SRC, request, 0, c.input),
                   operand_of(DNNL_ARG_WEIGHTS, request, 1, c.weights)};
  plan.operands[0].chosen = chosen.src_desc();
  plan.operands[1].chosen = chosen.weights_desc();
  if (c.is_transposed) plan.operands[1].given = transposed_weights(c.weights);
  return plan;
}

// The scale goes into the weights, the shift is the bias, and the ReLU is done as results are stored.
Plan plan_fused(const Convolution& c, const Request& request, dnnl::algorithm algorithm,
                const dnnl::engine& engine) {
  const Dims channels = {c.output[1]};
  dnnl::post_ops after;
  after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  const dnnl::convolution_forward::primitive_desc chosen(
      dnnl::convolution_forward::desc(dnnl::prop_kind::forward_inference, algorithm, any_layout(c.input),
                                      any_layout(c.weights), any_layout(channels), any_layout(c.output),
                                      c.strides, c.dilations, c.padding, c.padding),
      attributes, engine);
  Plan plan{
      .primitive = dnnl::convolution_forward(chosen), .output = chosen.dst_desc(), .output_shape = c.output};
  plan.operands = {operand_of(DNNL_ARG_SRC, request, 0, c.input),
                   operand_of(DNNL_ARG_WEIGHTS, request, 1, c.weights),
                   operand_of(DNNL_ARG_BIAS, request, 3, channels)};
  plan.operands[0].chosen = chosen.src_desc();
  plan.operands[1].chosen = chosen.weights_desc();
  plan.operands[2].chosen = chosen.bias_desc();
  const std::span<const float> scale = request.input(2, c.output[1]);
  Operand& weights = plan.operands[1];
  plan.scaled_weights.assign(weights.values.begin(), weights.values.end());
  const size_t of_one_channel = plan.scaled_weights.size() / scale.size();
  for (size_t i = 0; i < plan.scaled_weights.size(); ++i) plan.scaled_weights[i] *= scale[i / of_one_channel];
  weights.values = plan.scaled_weights;
  return plan;
}

}  // namespace

std::optional<Convolution> convolution_of(const Entry& entry) {
  const auto kind = std::ranges::find(kKinds, entry.op(), &Kind::op);
  if (kind == kKinds.end()) return std::nullopt;
  Convolution result = without_window(*kind, entry);
  const int64_t kernel = entry["kernel"];
  const int64_t stride = entry["stride"];
  const int64_t padding = entry.value_or("padding", 0);
  const int64_t dilation = entry.value_or("dilation", 1);
  for (const char* name : extent_names(kind->dimensions)) {
    const int64_t extent = entry[name];
    const int64_t window = dilation * (kernel - 1) + 1;
    result.input.push_back(extent);
    result.weights.push_back(kernel);
    result.output.push_back(kind->is_transposed ? (extent - 1) * stride - 2 * padding + window
                                                : (extent + 2 * padding - window) / stride + 1);
  }
  result.strides.assign(kind->dimensions, stride);
  result.dilations.assign(kind->dimensions, dilation - 1);
  result.padding.assign(kind->dimensions, padding);
  return result;
}

Plan plan_convolution(const Convolution& convolution, const Request& request, bool by_winograd,
                      const dnnl::engine& engine) {
  using dnnl::algorithm;
  if (convolution.is_transposed) {
    const auto how = by_winograd ? algorithm::deconvolution_winograd : algorithm::deconvolution_direct;
    return plan_of<dnnl::deconvolution_forward>(convolution, request, how, engine);
  }
  const auto how = by_winograd ? algorithm::convolution_winograd : algorithm::convolution_direct;
  if (convolution.is_fused) return plan_fused(convolution, request, how, engine);
  return plan_of<dnnl::convolution_forward>(convolution, request, how, engine);
}

}  // namespace lathe::peers
