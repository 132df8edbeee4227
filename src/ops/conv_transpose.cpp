#include "ops/conv_transpose.h"

#include <fmt/format.h>

#include "base/check.h"
#include "ops/axes.h"
#include "ops/conv.h"

namespace lathe {
namespace {

// stride-1 zeros between neighbours; the tensor itself where all strides are 1.
Tensor expand(DagBuilder& builder, const Tensor& input, const Window& window) {
  std::vector<Axis> axes = axes_of(input);
  std::vector<Affine> index = indices(axes);
  Expr holds_element;
  for (size_t d = 2; d < axes.size(); ++d) {
    const int64_t stride = window.stride_of(d - 2);
    if (stride == 1) continue;
    axes[d].extent = (axes[d].extent - 1) * stride + 1;
    index[d] = floor_div(axes[d].var, stride);
    const Expr here = Expr(modulo(axes[d].var, stride)) == Expr(0);
    holds_element = holds_element.defined() ? holds_element && here : here;
  }
  if (!holds_element.defined()) return input;
  const Expr body = select(holds_element, load(input, std::move(index)), 0.0);
  return builder.compute(builder.fresh_name(input->name + ".expand"), std::move(axes), body);
}

// How the spread-out input is padded, for a forward convolution with `window`.
Window flipped_window(const Tensor& weight, const Window& window) {
  Window flipped;
  for (size_t d = 0; d + 2 < weight->shape.size(); ++d) {
    const int64_t room = (weight->shape[d + 2] - 1) * window.dilation_of(d);
    flipped.padding.push_back(room - window.before(d));
    flipped.padding_after.push_back(room - window.after(d));
  }
  return flipped;
}

template <size_t dimensions>
Result<Operator> make_conv_transpose(const Parameters& p) {
  std::vector<int64_t> input_shape = {p["batch"], p["in_channels"]};
  std::vector<int64_t> weight_shape = {p["in_channels"], p["out_channels"]};
  int64_t points = 1;
  for (const int64_t extent : spatial_extents(p, dimensions)) {
    if ((extent - 1) * p["stride"] + p["kernel"] <= 2 * p["padding"]) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("padding {} leaves nothing of an input of {}", p["padding"], extent));
    }
    input_shape.push_back(extent);
    weight_shape.push_back(p["kernel"]);
    points = multiply_adds({points, extent}) / 2;
  }
  DagBuilder builder;
  const Tensor input = builder.input("I", std::move(input_shape));
  const Tensor weight = builder.input("W", std::move(weight_shape));
  conv_transpose(builder, "O", input, weight, uniform_window(dimensions, p["stride"], p["padding"]));
  return finish(builder, {"W"},
                multiply_adds({p["batch"], p["in_channels"], p["out_channels"], points,
                               power(p["kernel"], dimensions)}));
}

std::vector<OperatorParameter> transpose_parameters(size_t dimensions) {
  std::vector<OperatorParameter> parameters = {{"batch"}};
  for (const OperatorParameter& extent : spatial_parameters(dimensions)) parameters.push_back(extent);
  parameters.insert(parameters.end(),
                    {{"in_channels"}, {"out_channels"}, {"kernel"}, {"stride"}, {"padding", 0}});
  return parameters;
}

}  // namespace

Tensor conv_transpose(DagBuilder& builder, std::string name, const Tensor& input, const Tensor& weight,
                      const Window& window, int64_t groups) {
  const size_t count = input->shape.size() - 2;
  LATHE_CHECK(weight->shape.size() == count + 2 && input->shape[1] == weight->shape[0]);
  LATHE_CHECK(groups >= 1 && input->shape[1] % groups == 0);
  const Tensor expanded = expand(builder, input, window);
  const Tensor padded = pad(builder, expanded, 2, count, flipped_window(weight, window));
  const Axis n = spatial("n", input->shape[0]);
  const int64_t maps = weight->shape[1];  // of a group
  const Axis f = spatial("f", maps * groups);
  const Axis c = reduce("c", input->shape[1] / groups);
  Affine channel = c.var;
  if (groups > 1) channel += floor_div(f.var, maps) * c.extent;
  std::vector<Axis> outputs = {n, f};
  std::vector<Axis> sums = {c};
  std::vector<Affine> at = {n.var, channel};
  std::vector<Affine> flipped = {channel, groups > 1 ? modulo(f.var, maps) : Affine(f.var)};
  const std::vector<std::string> names = spatial_names(count);
  for (size_t d = 0; d < count; ++d) {
    const int64_t kernel = weight->shape[d + 2];
    const int64_t dilation = window.dilation_of(d);
    outputs.push_back(spatial(names[d], padded->shape[d + 2] - (kernel - 1) * dilation));
    sums.push_back(reduce("k" + names[d], kernel));
    at.push_back(Affine(outputs.back().var) + Affine(sums.back().var) * dilation);
    flipped.push_back(Affine(kernel - 1) - sums.back().var);
  }
  return builder.compute(std::move(name), outputs, sum(sums, load(padded, at) * load(weight, flipped)));
}

std::vector<OperatorEntry> conv_transpose_operators() {
  return {{"conv1d_transpose", transpose_parameters(1), make_conv_transpose<1>},
          {"conv2d_transpose", transpose_parameters(2), make_conv_transpose<2>},
          {"conv3d_transpose", transpose_parameters(3), make_conv_transpose<3>}};
}

}  // namespace lathe
