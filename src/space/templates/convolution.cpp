#include "space/templates/convolution.h"

#include "space/templates/window.h"

namespace lathe {
namespace {

// Where the data has its channels and the weights their maps.
struct ConvolutionAxes : WindowAxes {
  size_t channels_dim = 0;
  size_t maps_dim = 0;
};

std::optional<ConvolutionAxes> convolution_axes(const Compute& compute, const Stage& stage) {
  const auto axes = window_axes(compute, stage);
  if (!axes || !axes->channels) return std::nullopt;
  const auto channels = plain_dim(*axes->data->load, compute.axes[*axes->channels]);
  const auto maps = plain_dim(*axes->weights->load, compute.axes[axes->maps]);
  if (!channels || !maps) return std::nullopt;
  return ConvolutionAxes{*axes, *channels, *maps};
}

}  // namespace

bool fits_convolution(const Analysis& analysis, const Stage& stage) {
  return convolution_axes(analysis.compute(stage), stage).has_value();
}

Tiling decide_convolution(Decider& decider, Chooser& chooser, const Stage& stage) {
  const Compute& compute = decider.compute(stage);
  const ConvolutionAxes axes = *convolution_axes(compute, stage);
  WindowTile tile = decide_window_tile(decider, chooser, stage, axes);
  place_data(decider, compute, axes, axes.channels_dim, tile.channels, tile.maps_are_innermost);
  place_weights(decider, compute, axes, tile, axes.maps_dim);
  place_results(decider, stage, axes, tile);
  tile.tiling.places = decider.take_places();
  return std::move(tile.tiling);
}

}  // namespace lathe
