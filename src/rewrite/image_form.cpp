#include "rewrite/image_form.h"

#include <algorithm>

namespace lathe {
namespace {

// Axes of the product that become one, the last running fastest.
struct Joined {
  Var var;
  std::vector<size_t> axes;
  int64_t extent = 1;

  Joined(const Compute& compute, const std::string& name, std::vector<size_t> of)
      : var(name), axes(std::move(of)) {
    for (const size_t axis : axes) extent *= compute.axes[axis].extent;
  }
  // The joined axis' value.
  Affine value(const Compute& compute) const {
    Affine sum(0);
    for (const size_t axis : axes) sum = sum * compute.axes[axis].extent + Affine(compute.axes[axis].var);
    return sum;
  }
  // Each axis as a digit of `joined`.
  void add_digits(const Compute& compute, const Affine& joined, Substitution& digits) const {
    Affine rest = joined;
    for (size_t k = axes.size(); k-- > 0;) {
      const Axis& axis = compute.axes[axes[k]];
      digits.emplace_back(axis.var, k == 0 ? rest : modulo(rest, axis.extent));
      rest = floor_div(rest, axis.extent);
    }
  }
};

bool reads(const Load& load, const Var& var) {
  return std::ranges::any_of(load.index, [&](const Affine& index) { return index.uses(var); });
}

// Whether all dimensions but the windows' are indexed by one axis alone.
bool is_plain(const Load& load, const std::vector<size_t>& window_dims) {
  for (size_t dim = 0; dim < load.index.size(); ++dim) {
    const bool is_window = std::ranges::find(window_dims, dim) != window_dims.end();
    if (!is_window && !load.index[dim].as_var()) return false;
  }
  return true;
}

// An operand with its axes joined; windows run whole. `outer` and `channels` index its first two dimensions.
Compute joined_operand(const Compute& compute, const Load& load, const std::vector<size_t>& window_dims,
                       const std::string& name, const Joined& outer, const Joined& channels) {
  std::vector<Axis> axes = {spatial(outer.var.name(), outer.extent),
                            spatial(channels.var.name(), channels.extent)};
  Substitution digits;
  outer.add_digits(compute, Affine(axes[0].var), digits);
  channels.add_digits(compute, Affine(axes[1].var), digits);
  std::vector<Affine> index;
  for (const Affine& own : load.index) index.push_back(substitute(own, digits));
  for (const size_t dim : window_dims) {
    axes.push_back(spatial(dim == window_dims.front() ? "y" : "x", load.tensor->shape[dim]));
    index[dim] = Affine(axes.back().var);
  }
  std::vector<int64_t> shape;
  for (const Axis& axis : axes) shape.push_back(axis.extent);
  return {Tensor(name, shape, load.tensor->dtype), axes, Reduction::none, lathe::load(load.tensor, index)};
}

Compute convolution_of(const Compute& compute, const WindowedProduct& match, const Tensor& data,
                       const Tensor& weight) {
  const Axis p = spatial("p", data->shape[0]), f = spatial("f", weight->shape[0]);
  const Axis y = spatial("y", compute.axes[match.windows[0].output_dim].extent);
  const Axis x = spatial("x", compute.axes[match.windows[1].output_dim].extent);
  const Axis c = reduce("c", data->shape[1]);
  const Axis a = reduce("a", weight->shape[2]), b = reduce("b", weight->shape[3]);
  const Expr body =
      data(p, c, Affine(y.var) + Affine(a.var), Affine(x.var) + Affine(b.var)) * weight(f, c, a, b);
  return {
      Tensor(compute.output->name + ".C", {p.extent, f.extent, y.extent, x.extent}, compute.output->dtype),
      {p, f, y, x, c, a, b},
      Reduction::sum,
      body};
}

Compute picked(const Compute& compute, const WindowedProduct& match, const Tensor& convolution,
               const Joined& images, const Joined& features) {
  std::vector<Axis> axes;
  Substitution renamed;
  for (size_t a = 0; a < compute.spatial_count(); ++a) {
    axes.push_back(spatial(compute.axes[a].var.name(), compute.axes[a].extent));
    renamed.emplace_back(compute.axes[a].var, Affine(axes.back().var));
  }
  const std::vector<Affine> index = {
      substitute(images.value(compute), renamed), substitute(features.value(compute), renamed),
      Affine(axes[match.windows[0].output_dim].var), Affine(axes[match.windows[1].output_dim].var)};
  return {compute.output, axes, Reduction::none, load(convolution, index)};
}

}  // namespace

std::optional<ImageForm> image_form(const Compute& compute, const WindowedProduct& match) {
  if (match.windows.size() != 2 || match.channels.empty()) return std::nullopt;
  std::vector<size_t> images;
  std::vector<size_t> features;
  for (size_t a = 0; a < compute.spatial_count(); ++a) {
    if (a == match.windows[0].output_dim || a == match.windows[1].output_dim) continue;
    const bool in_data = reads(match.data, compute.axes[a].var);
    if (in_data == reads(match.weight, compute.axes[a].var)) return std::nullopt;
    (in_data ? images : features).push_back(a);
  }
  const std::vector<size_t> data_dims = {match.windows[0].data_dim, match.windows[1].data_dim};
  const std::vector<size_t> weight_dims = {match.windows[0].weight_dim, match.windows[1].weight_dim};
  for (size_t w = 0; w < 2; ++w) {
    const Affine step(compute.axes[match.windows[w].reduce_axis].var);
    if (!(match.weight.index[weight_dims[w]] == step)) return std::nullopt;
  }
  if (!is_plain(match.data, data_dims) || !is_plain(match.weight, weight_dims)) return std::nullopt;
  const std::string& name = compute.output->name;
  const Joined image(compute, "p", images);
  const Joined feature(compute, "f", features);
  const Joined channel(compute, "c", match.channels);
  Compute data = joined_operand(compute, match.data, data_dims, name + ".D", image, channel);
  Compute weight = joined_operand(compute, match.weight, weight_dims, name + ".K", feature, channel);
  Compute convolution = convolution_of(compute, match, data.output, weight.output);
  Compute after = picked(compute, match, convolution.output, image, feature);
  return ImageForm{std::move(data), std::move(weight), std::move(convolution), std::move(after)};
}

}  // namespace lathe
