// Rule: a product is tiled around a register tile of `rows` x `vectors` accumulators: operands that can be
// transformed beforehand are packed into panels as wide as the tile, accumulators live in registers over the
// whole reduction, imperfect row tiles are smaller tiles, imperfect vectors are padding and masks; the
// element-wise consumer is fused (Ansor's rules 4 to 6 with operand packing). Of a long sum each cache block
// adds up some terms at a time, so that the rows that a panel passes over stay near.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "space/rules/decider.h"
#include "space/rules/parallel.h"
#include "space/rules/product/register_tile.h"
#include "space/rules/product/tile_candidates.h"

namespace lathe {

// Where a product stands that is computed for a group of places of one of its axes.
struct GroupedLoops {
  std::optional<size_t> axis;       // none: the product stands alone
  int64_t size = 1;                 // the axis' extent inside the group
  bool imperfect = false;           // the last group is smaller
  std::vector<size_t> single = {};  // axes of which it has one place
};

// What is chosen of a product.
struct TileSizes : RegisterTile {
  int64_t panels = 1;     // tiles along the vector axis in a cache block
  int64_t row_tiles = 1;  // tiles along the row axis in a cache block
  int64_t others = 1;     // of the largest other spatial axis in a cache block
  int64_t order = 0;      // of the loops over cache blocks and in them
  int64_t channels_inner = 1;
  int64_t taps_inner = 0;  // of a window that slides over the rows: inside of them, so that they share loads
  int64_t blocked = 0;     // whether the vector axis, or the channels, are blocked where they lie innermost
  int64_t by_rows = 0;     // whether all blocks of an image's row lie, and are done, together
  int64_t terms = 0;       // of the longest sum that a cache block adds up before others of it; 0: all
  int64_t reduce_unroll = 1;
  int64_t pad_rows = 0;
  int64_t prefetch = 0;  // of the next panel while this one is used
};

// The loops that a reduce axis is cut in.
struct ReduceLoops {
  std::string axis;
  std::vector<int64_t> factors;   // empty: one loop
  bool outermost_is_out = false;  // outside of the tiles, whose results go to memory and come again
};

// A copy, made in every call, in which the terms of a group of the row operand lie together.
struct RowCopy {
  CacheReadStep step;
  std::vector<std::string> loops;  // over all but the dimension of the groups
  SharedLoops shared;              // the same, as the cores share them
  std::string along;               // that dimension's loop
  std::string across;  // where all its places are few: the loop of what lies innermost in the source
  int64_t vector = 0;  // places that are copied at once, across or else along; 0: one by one
};

// Terms that an intrinsic adds up in groups.
struct TermLoops {
  std::string intrinsic;
  std::string axis;  // the reduce axis, the last part of which is a group: inside of all other loops
  bool has_rest = false;
  std::optional<RowCopy> copy = {};
};

struct ProductDecision {
  size_t stage = 0;
  TileAxes tile = {};
  std::optional<size_t> other = {};  // the other spatial axis that gets a cache tile
  TileSizes sizes = {};
  bool is_grouped = false;
  Places places = {};
  bool is_padded = false;                 // whether panels have room for all of the last vectors
  OuterLoops outer = {};                  // over cache blocks, parts of a sum that is cut, and tiles
  SharedLoops shared = {};                // the same, as the cores share them
  std::optional<std::string> parts = {};  // the loop over the parts of the sum
  std::vector<ReduceLoops> reduce =
      {};  // outermost first; the last part of the last is unrolled if any is, but a group
  std::optional<TermLoops> terms = {};
  std::optional<std::string> taps = {};   // the reduce axis inside of the rows
  std::string panels = {};                // the operand's copy, or itself, that comes in panels
  std::optional<std::string> ahead = {};  // the loop whose next iteration's panel is fetched
};
ProductDecision decide_product(Decider& decider, const Stage& stage, const TileAxes& tile,
                               const GroupedLoops& group = {});
void write_product(Writer& writer, const ProductDecision& decision);

}  // namespace lathe
