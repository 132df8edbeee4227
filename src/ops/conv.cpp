#include "ops/conv.h"

#include <fmt/format.h>

#include "base/check.h"
#include "ops/axes.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"

namespace lathe {
namespace {

// The axes and the input's indices that a window sweeps: what all convolutions have in common.
struct Sweep {
  Tensor padded;
  std::vector<Axis> outputs;  // one a spatial dimension
  std::vector<Axis> kernel;
  std::vector<Affine> index;  // output*stride + kernel*dilation
};

Sweep sweep(DagBuilder& builder, const Tensor& input, const Tensor& weight, const Window& window,
            double beside) {
  const size_t count = input->shape.size() - 2;
  LATHE_CHECK(weight->shape.size() == count + 2);
  Sweep result;
  result.padded = pad(builder, input, 2, count, window, beside);
  const std::vector<std::string> names = spatial_names(count);
  for (size_t d = 0; d < count; ++d) {
    const int64_t kernel = weight->shape[d + 2];
    result.outputs.push_back(spatial(names[d], window_count(input->shape[d + 2], kernel, window, d)));
    result.kernel.push_back(reduce("k" + names[d], kernel));
    result.index.push_back(Affine(result.outputs[d].var) * window.stride_of(d) +
                           Affine(result.kernel[d].var) * window.dilation_of(d));
  }
  return result;
}

std::vector<Affine> join(std::vector<Affine> head, const std::vector<Affine>& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

std::vector<Axis> join(std::vector<Axis> head, const std::vector<Axis>& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

struct ConvShape {
  std::vector<int64_t> input;
  std::vector<int64_t> weight;
  Window window;
  int64_t groups = 1;
  int64_t flops = 0;
};

Result<ConvShape> conv_shape(const Parameters& p, size_t dimensions) {
  const std::vector<int64_t> extents = spatial_extents(p, dimensions);
  const std::vector<int64_t> kernel(dimensions, p["kernel"]);
  ConvShape shape;
  shape.groups = p["groups"];
  if (p["in_channels"] % shape.groups != 0 || p["out_channels"] % shape.groups != 0) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} groups do not divide both {} input and {} output channels", shape.groups,
                            p["in_channels"], p["out_channels"]));
  }
  shape.window = uniform_window(dimensions, p["stride"], p["padding"], p["dilation"]);
  LATHE_TRY_STATUS(check_window(extents, kernel, shape.window));
  shape.input = {p["batch"], p["in_channels"]};
  shape.input.insert(shape.input.end(), extents.begin(), extents.end());
  shape.weight = {p["out_channels"], p["in_channels"] / shape.groups};
  shape.weight.insert(shape.weight.end(), kernel.begin(), kernel.end());
  shape.flops = multiply_adds({p["batch"], shape.weight[0], shape.weight[1], power(p["kernel"], dimensions)});
  for (size_t d = 0; d < dimensions; ++d) {
    shape.flops = multiply_adds({shape.flops / 2, window_count(extents[d], kernel[d], shape.window, d)});
  }
  return shape;
}

template <size_t dimensions>
Result<Operator> make_conv(const Parameters& p) {
  LATHE_TRY(const ConvShape shape, conv_shape(p, dimensions));
  DagBuilder builder;
  const Tensor input = builder.input("I", shape.input);
  const Tensor weight = builder.input("W", shape.weight);
  conv(builder, "O", input, weight, shape.window, shape.groups);
  return finish(builder, {"W"}, shape.flops);
}

// What the rule of that algorithm takes; a kernel of one has nothing to save, and tables of more points than
// a kernel of five needs hold numbers so far apart that f32 loses the result.
Status check_winograd(const Parameters& p) {
  struct Limit {
    const char* parameter;
    int64_t least;
    int64_t most;
  };
  for (const auto& [parameter, least, most] :
       {Limit{"stride", 1, 1}, Limit{"dilation", 1, 1}, Limit{"groups", 1, 1}, Limit{"kernel", 2, 5}}) {
    if (least <= p[parameter] && p[parameter] <= most) continue;
    return fail(
        ErrorKind::unsupported,
        fmt::format("conv2d_winograd is for convolutions of stride 1 without dilation and groups, with "
                    "kernels of 2 to 5, and its '{}' is {}: Winograd's algorithm computes no other",
                    parameter, p[parameter]));
  }
  return {};
}

Result<Operator> make_winograd(const Parameters& p) {
  LATHE_TRY_STATUS(check_winograd(p));
  LATHE_TRY(Operator result, make_conv<2>(p));
  result.algorithm = "winograd";
  return result;
}

// The scale and shift are not counted: the figure is the convolution's.
Result<Operator> make_conv_bn_relu(const Parameters& p) {
  LATHE_TRY(const ConvShape shape, conv_shape(p, 2));
  DagBuilder builder;
  const Tensor input = builder.input("I", shape.input);
  const Tensor weight = builder.input("W", shape.weight);
  const Tensor scale = builder.input("scale", {p["out_channels"]});
  const Tensor shift = builder.input("shift", {p["out_channels"]});
  const Tensor sums = conv(builder, "O.conv", input, weight, shape.window, shape.groups);
  scale_shift(builder, "O", sums, scale, shift, true);
  return finish(builder, {"W", "scale", "shift"}, shape.flops);
}

Result<Operator> make_depthwise(const Parameters& p) {
  const std::vector<int64_t> extents = spatial_extents(p, 2);
  const int64_t kernel = p["kernel"];
  const Window window = uniform_window(2, p["stride"], p["padding"], p["dilation"]);
  LATHE_TRY_STATUS(check_window(extents, std::vector<int64_t>{kernel, kernel}, window));
  DagBuilder builder;
  const Tensor input = builder.input("I", {p["batch"], p["channels"], extents[0], extents[1]});
  const Tensor weight = builder.input("W", {p["channels"], p["multiplier"], kernel, kernel});
  const Tensor output = depthwise_conv(builder, "O", input, weight, window);
  return finish(builder, {"W"},
                multiply_adds({p["batch"], p["channels"], p["multiplier"], output->shape[2], output->shape[3],
                               kernel, kernel}));
}

std::vector<OperatorParameter> conv_parameters(size_t dimensions) {
  std::vector<OperatorParameter> parameters = {{"batch"}};
  for (const OperatorParameter& extent : spatial_parameters(dimensions)) parameters.push_back(extent);
  parameters.insert(parameters.end(), {{"in_channels"},
                                       {"out_channels"},
                                       {"kernel"},
                                       {"stride"},
                                       {"padding", 0},
                                       {"dilation", 1, 1},
                                       {"groups", 1, 1}});
  return parameters;
}

}  // namespace

Tensor conv(DagBuilder& builder, std::string name, const Tensor& input, const Tensor& weight,
            const Window& window, int64_t groups, double beside, DType sums) {
  LATHE_CHECK(groups >= 1 && weight->shape[0] % groups == 0 && input->shape[1] == weight->shape[1] * groups);
  const Sweep swept = sweep(builder, input, weight, window, beside);
  const Axis n = spatial("n", input->shape[0]);
  const Axis f = spatial("f", weight->shape[0]);
  const Axis c = reduce("c", weight->shape[1]);
  Affine channel = c.var;
  if (groups > 1) channel += floor_div(f.var, f.extent / groups) * c.extent;
  const Expr product = widened_product(load(swept.padded, join({n.var, channel}, swept.index)),
                                       load(weight, join({f.var, c.var}, indices(swept.kernel))), sums);
  return builder.compute(std::move(name), join({n, f}, swept.outputs), sum(join({c}, swept.kernel), product));
}

Tensor depthwise_conv(DagBuilder& builder, std::string name, const Tensor& input, const Tensor& weight,
                      const Window& window) {
  LATHE_CHECK(input->shape[1] == weight->shape[0]);
  const Sweep swept = sweep(builder, input, weight, window, 0.0);
  const int64_t multiplier = weight->shape[1];
  const Axis n = spatial("n", input->shape[0]);
  const Axis f = spatial("f", weight->shape[0] * multiplier);
  const Affine channel = floor_div(f.var, multiplier);
  const Expr product = load(swept.padded, join({n.var, channel}, swept.index)) *
                       load(weight, join({channel, modulo(f.var, multiplier)}, indices(swept.kernel)));
  return builder.compute(std::move(name), join({n, f}, swept.outputs), sum(swept.kernel, product));
}

std::vector<OperatorParameter> spatial_parameters(size_t dimensions) {
  if (dimensions == 1) return {{"length"}};
  if (dimensions == 2) return {{"height"}, {"width"}};
  return {{"depth"}, {"height"}, {"width"}};
}

std::vector<int64_t> spatial_extents(const Parameters& p, size_t dimensions) {
  std::vector<int64_t> extents;
  for (const OperatorParameter& parameter : spatial_parameters(dimensions))
    extents.push_back(p[parameter.name]);
  return extents;
}

std::vector<OperatorEntry> conv_operators() {
  return {{"conv1d", conv_parameters(1), make_conv<1>},
          {"conv2d", conv_parameters(2), make_conv<2>},
          {"conv3d", conv_parameters(3), make_conv<3>},
          {"conv2d_winograd", conv_parameters(2), make_winograd},
          {"conv2d_bn_relu", conv_parameters(2), make_conv_bn_relu},
          {"depthwise_conv2d",
           {{"batch"},
            {"height"},
            {"width"},
            {"channels"},
            {"kernel"},
            {"stride"},
            {"padding", 0},
            {"dilation", 1, 1},
            {"multiplier", 1, 1}},
           make_depthwise}};
}

}  // namespace lathe
