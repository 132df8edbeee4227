// What all templates of convolutions share: maps (output channels), image, channels and kernel, found by what
// the two operands of a product do with each axis, and the tile of maps and image around which the loops are
// built. The template is that of spatial packing for Arm processors, which [A] 6 measures, with the input
// channels split as well: tiles of the maps and of each axis of the image, two orders of a tile's loops, each
// loop of the kernel unrolled or not, a tile's innermost loop plain, unrolled or vectorized and its others
// unrolled or not; weights and data packed as these loops read them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "space/chooser.h"
#include "space/templates/knobs.h"
#include "space/templates/tiling.h"

namespace lathe {

// A product of `data`, along which a window slides, and `weights`.
struct WindowAxes {
  const Operand* data = nullptr;
  const Operand* weights = nullptr;
  size_t maps = 0;                      // the only spatial axis of the weights
  std::vector<size_t> image = {};       // spatial: each in a dimension of the data with an axis of the kernel
  std::vector<size_t> kernel = {};      // reduce
  std::optional<size_t> channels = {};  // the other reduce axis, if there is one
  std::vector<size_t> others = {};      // spatial, such as the batch
};
// Nothing where the product is none of a window over another tensor, or of one with other axes than these.
std::optional<WindowAxes> window_axes(const Compute& compute, const Stage& stage);
// The only dimension whose index uses the axis, or that it is the whole index of; nothing else is one.
std::optional<size_t> dim_using(const Load& load, const Axis& axis);
std::optional<size_t> plain_dim(const Load& load, const Axis& axis);

// What a tile is, as far as operands' layouts follow from it.
struct WindowTile {
  Tiling tiling;
  int64_t maps = 1;
  int64_t channels = 1;
  bool maps_are_innermost = true;
};
struct WindowLimits {
  SplitLimits maps = {};
  bool maps_may_be_innermost = true;  // of the tile's loops
};
// Asks all knobs, and decides all but where operands lie.
WindowTile decide_window_tile(Decider& decider, Chooser& chooser, const Stage& stage, const WindowAxes& axes,
                              const WindowLimits& limits = {});

// The data as the loops read it: the dimension `channels` in blocks, their places innermost where the maps
// are, else right before the last axis of the image.
void place_data(Decider& decider, const Compute& compute, const WindowAxes& axes, size_t channels,
                int64_t block, bool maps_are_innermost);
// Weights: blocks of the dimension `maps`, in each of them all channels by blocks, the kernel, the channels
// of a block, and the maps of the block side by side.
void place_weights(Decider& decider, const Compute& compute, const WindowAxes& axes, const WindowTile& tile,
                   size_t maps);
// Results whose layout is open: maps in the tile's blocks where they are innermost.
void place_results(Decider& decider, const Stage& stage, const WindowAxes& axes, const WindowTile& tile);

}  // namespace lathe
