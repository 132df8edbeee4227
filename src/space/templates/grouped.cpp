#include "space/templates/grouped.h"

#include "space/templates/window.h"

namespace lathe {
namespace {

struct GroupedAxes : WindowAxes {
  size_t channels_dim = 0;  // of the data
  size_t maps_dim = 0;      // of the weights
};

std::optional<GroupedAxes> grouped_axes(const Compute& compute, const Stage& stage) {
  const auto axes = window_axes(compute, stage);
  if (!axes || !axes->channels || compute.axes[*axes->channels].extent == 1) return std::nullopt;
  const auto channels = dim_using(*axes->data->load, compute.axes[*axes->channels]);
  const auto maps = plain_dim(*axes->weights->load, compute.axes[axes->maps]);
  if (!channels || !maps || dim_using(*axes->data->load, compute.axes[axes->maps]) != channels)
    return std::nullopt;
  // Channels are neighbours, and a block of them lies in one group.
  if (axes->data->digit_dim[*axes->channels] != static_cast<int>(*channels)) return std::nullopt;
  return GroupedAxes{*axes, *channels, *maps};
}

// Numbers of maps that divide them all and of which none reads other channels than its neighbours.
std::vector<int64_t> maps_of_one_group(const Axis& maps, const Affine& channel) {
  std::vector<int64_t> numbers;
  for (int64_t number = 1; number <= maps.extent; ++number) {
    if (maps.extent % number != 0) continue;
    const Var tile("tile"), place("place");
    Ranges ranges;
    ranges.set_extent(tile, maps.extent / number);
    ranges.set_extent(place, number);
    const Affine there = substitute(channel, {{maps.var, Affine(tile) * number + Affine(place)}});
    if (!simplify(there, ranges).uses(place)) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

bool fits_grouped(const Analysis& analysis, const Stage& stage) {
  return grouped_axes(analysis.compute(stage), stage).has_value();
}

Tiling decide_grouped(Decider& decider, Chooser& chooser, const Stage& stage) {
  const Compute& compute = decider.compute(stage);
  const GroupedAxes axes = *grouped_axes(compute, stage);
  const Affine& channel = axes.data->load->index[axes.channels_dim];
  const WindowLimits limits{.maps = {.allowed = maps_of_one_group(compute.axes[axes.maps], channel)}};
  WindowTile tile = decide_window_tile(decider, chooser, stage, axes, limits);
  place_data(decider, compute, axes, axes.channels_dim, tile.channels, tile.maps_are_innermost);
  place_weights(decider, compute, axes, tile, axes.maps_dim);
  place_results(decider, stage, axes, tile);
  tile.tiling.places = decider.take_places();
  return std::move(tile.tiling);
}

}  // namespace lathe
