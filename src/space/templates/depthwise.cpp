#include "space/templates/depthwise.h"

#include "space/templates/window.h"

namespace lathe {
namespace {

struct DepthwiseAxes : WindowAxes {
  size_t channels_dim = 0;              // of the data, which maps lead to
  std::optional<size_t> maps_dim = {};  // of the weights, where maps alone number it
  bool has_channel_each = false;        // whether the maps' numbers are those of the channels
};

std::optional<DepthwiseAxes> depthwise_axes(const Compute& compute, const Stage& stage) {
  auto axes = window_axes(compute, stage);
  if (!axes) return std::nullopt;
  if (axes->channels) {
    if (compute.axes[*axes->channels].extent > 1) return std::nullopt;
    axes->kernel.insert(axes->kernel.begin(), *axes->channels);
    axes->channels.reset();
  }
  const auto channels = dim_using(*axes->data->load, compute.axes[axes->maps]);
  if (!channels) return std::nullopt;
  DepthwiseAxes found{*axes, *channels};
  found.has_channel_each = axes->data->dim_of_axis[axes->maps] >= 0;
  if (found.has_channel_each) found.maps_dim = plain_dim(*axes->weights->load, compute.axes[axes->maps]);
  return found;
}

}  // namespace

bool fits_depthwise(const Analysis& analysis, const Stage& stage) {
  return depthwise_axes(analysis.compute(stage), stage).has_value();
}

Tiling decide_depthwise(Decider& decider, Chooser& chooser, const Stage& stage) {
  const Compute& compute = decider.compute(stage);
  const DepthwiseAxes axes = *depthwise_axes(compute, stage);
  const WindowLimits limits{.maps_may_be_innermost = axes.has_channel_each};
  WindowTile tile = decide_window_tile(decider, chooser, stage, axes, limits);
  if (tile.maps_are_innermost)
    place_data(decider, compute, axes, axes.channels_dim, tile.maps, tile.maps_are_innermost);
  if (tile.maps_are_innermost && axes.maps_dim) place_weights(decider, compute, axes, tile, *axes.maps_dim);
  place_results(decider, stage, axes, tile);
  tile.tiling.places = decider.take_places();
  return std::move(tile.tiling);
}

}  // namespace lathe
