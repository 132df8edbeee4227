#include "space/templates/window.h"

#include <algorithm>
#include <ranges>

#include "space/rules/layouts.h"
#include "space/templates/blocked_layout.h"

namespace lathe {
namespace {

// Of a kernel's innermost loops, that may be written out one after another: those of wider windows would make
// most tiles too long.
constexpr int64_t kMostTaps = 32;

bool uses_axis(const Load& load, const Axis& axis) {
  return std::ranges::any_of(load.index, [&](const Affine& index) { return index.uses(axis.var); });
}

// Whether some index of the data moves along both, as that of an image under a kernel does.
bool slide(const Load& data, const Axis& place, const Axis& tap) {
  return std::ranges::any_of(data.index, [&](const Affine& index) {
    return index.coefficient(place.var) != 0 && index.coefficient(tap.var) != 0;
  });
}

std::optional<WindowAxes> window_axes_with(const Compute& compute, const Operand& data,
                                           const Operand& weights) {
  WindowAxes axes{.data = &data, .weights = &weights};
  const auto slides_with = [&](size_t place) {
    return [&, place](size_t tap) { return slide(*data.load, compute.axes[place], compute.axes[tap]); };
  };
  const std::ranges::iota_view reduce(compute.spatial_count(), compute.axes.size());
  std::vector<size_t> maps;
  for (size_t a = 0; a < compute.spatial_count(); ++a) {
    if (uses_axis(*weights.load, compute.axes[a]))
      maps.push_back(a);
    else
      (std::ranges::any_of(reduce, slides_with(a)) ? axes.image : axes.others).push_back(a);
  }
  std::vector<size_t> channels;
  for (const size_t r : reduce) {
    const bool is_tap = std::ranges::any_of(axes.image, [&](size_t place) { return slides_with(place)(r); });
    (is_tap ? axes.kernel : channels).push_back(r);
    if (!uses_axis(*weights.load, compute.axes[r])) return std::nullopt;
  }
  if (maps.size() != 1 || axes.image.empty() || channels.size() > 1) return std::nullopt;
  axes.maps = maps.front();
  if (!channels.empty()) axes.channels = channels.front();
  return axes;
}

// Loops over whole tiles: what has none first, as in the order of the paper's template.
OuterLoops loops_over_tiles(const Compute& compute, const WindowAxes& axes,
                            const std::vector<TileLoop>& tile) {
  OuterLoops loops;
  for (const size_t a : axes.others) loops.emplace_back(compute.axes[a].var.name(), compute.axes[a].extent);
  const auto add = [&](size_t a) {
    const auto loop = std::ranges::find(tile, a, &TileLoop::axis);
    loops.emplace_back(part_of(compute.axes[a], 0), compute.axes[a].extent / loop->extent);
  };
  add(axes.maps);
  for (const size_t a : axes.image) add(a);
  return loops;
}

// Taps of the kernel's loops from this one inwards.
int64_t taps_from(const Compute& compute, const WindowAxes& axes, size_t axis) {
  int64_t taps = 1;
  for (const size_t k : axes.kernel) taps *= k >= axis ? compute.axes[k].extent : 1;
  return taps;
}

std::vector<SumLoop> decide_sums(Knobs& knobs, const Compute& compute, const WindowAxes& axes,
                                 int64_t channels) {
  std::vector<SumLoop> sums;
  if (axes.channels) {
    const Axis& axis = compute.axes[*axes.channels];
    sums.push_back({part_of(axis, 0), axis.extent / channels});
  }
  for (const size_t k : axes.kernel) {
    SumLoop loop{compute.axes[k].var.name(), compute.axes[k].extent};
    if (loop.extent > 1 && taps_from(compute, axes, k) <= kMostTaps)
      loop.kind = knobs.annotate(loop.loop, {LoopKind::serial, LoopKind::unrolled});
    sums.push_back(std::move(loop));
  }
  if (axes.channels) sums.push_back({part_of(compute.axes[*axes.channels], 1), channels});
  return sums;
}

}  // namespace

std::optional<WindowAxes> window_axes(const Compute& compute, const Stage& stage) {
  if (stage.role != Role::product || stage.operands.size() != 2) return std::nullopt;
  if (stage.operands[0].load->tensor == stage.operands[1].load->tensor) return std::nullopt;
  for (const size_t data : {0, 1}) {
    if (auto axes = window_axes_with(compute, stage.operands[data], stage.operands[1 - data])) return axes;
  }
  return std::nullopt;
}

std::optional<size_t> dim_using(const Load& load, const Axis& axis) {
  std::optional<size_t> found;
  for (size_t dim = 0; dim < load.index.size(); ++dim) {
    if (!load.index[dim].uses(axis.var)) continue;
    if (found) return std::nullopt;
    found = dim;
  }
  return found;
}

std::optional<size_t> plain_dim(const Load& load, const Axis& axis) {
  const auto dim = dim_using(load, axis);
  return dim && load.index[*dim] == Affine(axis.var) ? dim : std::nullopt;
}

WindowTile decide_window_tile(Decider& decider, Chooser& chooser, const Stage& stage, const WindowAxes& axes,
                              const WindowLimits& limits) {
  const Compute& compute = decider.compute(stage);
  const std::string& block = compute.output->name;
  Knobs knobs(chooser, block);
  const auto split = [&](size_t a, const SplitLimits& of_axis = {}) {
    return knobs.split(compute.axes[a].var.name(), compute.axes[a].extent, of_axis);
  };
  WindowTile result{.tiling = {.stage = stage.compute}};
  Tiling& tiling = result.tiling;
  std::vector<std::pair<size_t, std::vector<int64_t>>> factors;
  for (const size_t a : axes.image) factors.emplace_back(a, split(a));
  const std::vector<int64_t> maps = split(axes.maps, limits.maps);
  result.maps = maps.back();
  if (axes.channels) {
    const std::vector<int64_t> channels = split(*axes.channels);
    result.channels = channels.back();
    tiling.splits.push_back({block, compute.axes[*axes.channels].var.name(), channels});
  }
  result.maps_are_innermost = limits.maps_may_be_innermost && knobs.order(2) == 0;
  factors.emplace(result.maps_are_innermost ? factors.end() : factors.begin(), axes.maps, maps);
  const LoopKind inner =
      knobs.annotate("inner", {LoopKind::serial, LoopKind::unrolled, LoopKind::vectorized});
  const LoopKind outer = knobs.annotate("outer", {LoopKind::serial, LoopKind::unrolled});
  for (const auto& [a, inner_factors] : factors) {
    const LoopKind kind = a == factors.back().first ? inner : outer;
    tiling.tile.push_back(split_tile_loop(tiling, compute, a, inner_factors, kind, decider.lanes()));
  }
  tiling.sums = decide_sums(knobs, compute, axes, result.channels);
  tiling.tiles = loops_over_tiles(compute, axes, tiling.tile);
  tiling.shared = share_loops(decider, tiling.tiles);
  tiling.scope = scope_of_results(tiling, decider.costs);
  if (const Status length = check_length_of(tiling, block); !length && !decider.violation)
    decider.violation = length.error();
  return result;
}

void place_data(Decider& decider, const Compute& compute, const WindowAxes& axes, size_t channels,
                int64_t block, bool maps_are_innermost) {
  const Load& load = *axes.data->load;
  const std::optional<size_t> last = dim_using(load, compute.axes[axes.image.back()]);
  BlockedLayout layout(load.tensor);
  for (size_t dim = 0; dim < load.index.size(); ++dim) {
    if (dim == channels)
      layout.add_blocks(dim, block);
    else if (dim != last || maps_are_innermost)
      layout.add(dim);
  }
  layout.add_places(channels, block);
  if (last && !maps_are_innermost) layout.add(*last);
  place_operand(decider, *axes.data, compute.output->name, layout.layout());
}

void place_weights(Decider& decider, const Compute& compute, const WindowAxes& axes, const WindowTile& tile,
                   size_t maps) {
  const Load& load = *axes.weights->load;
  std::optional<size_t> channels;
  if (axes.channels) channels = plain_dim(load, compute.axes[*axes.channels]);
  BlockedLayout layout(load.tensor);
  layout.add_blocks(maps, tile.maps);
  if (channels) layout.add_blocks(*channels, tile.channels);
  for (size_t dim = 0; dim < load.index.size(); ++dim) {
    if (dim != maps && (!channels || dim != *channels)) layout.add(dim);
  }
  if (channels) layout.add_places(*channels, tile.channels);
  layout.add_places(maps, tile.maps);
  place_operand(decider, *axes.weights, compute.output->name, layout.layout());
}

void place_results(Decider& decider, const Stage& stage, const WindowAxes& axes, const WindowTile& tile) {
  if (tile.maps_are_innermost && tile.maps > 1) decide_vector_layouts(decider, stage, axes.maps, tile.maps);
}

}  // namespace lathe
