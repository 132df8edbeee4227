// What every template makes of a product ([A] fig. 1, second and third program): loops over tiles of the
// result, in them the reduction, and innermost the loops of one tile, whose results are collected apart and
// written when they are complete. A tile whose loops are all unrolled or vectorized, and that is not too
// large, is a micro-kernel: its accumulators are registers through the whole reduction.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "space/rules/decider.h"
#include "space/rules/parallel.h"

namespace lathe {

// One spatial axis of a tile. Of one that is vectorized `loop` runs over vectors and is unrolled, and the
// loop after it over their lanes.
struct TileLoop {
  size_t axis = 0;
  std::string loop;
  int64_t extent = 1;  // results
  LoopKind kind = LoopKind::serial;
  int64_t lanes = 1;
  std::string lane_loop = {};  // empty: not vectorized

  int64_t vectors() const { return extent / lanes; }
  // Statements that its loops become: lanes that are no power of two are loaded and stored in several.
  int64_t statements() const { return vectors() * std::popcount(static_cast<uint64_t>(lanes)); }
};

struct SumLoop {
  std::string loop;
  int64_t extent = 1;
  LoopKind kind = LoopKind::serial;
};

struct Tiling {
  size_t stage = 0;
  Places places = {};
  std::vector<SplitStep> splits = {};
  OuterLoops tiles = {};            // over tiles, outermost first
  SharedLoops shared = {};          // the same, as the cores share them
  std::vector<SumLoop> sums = {};   // outermost first
  std::vector<TileLoop> tile = {};  // outermost first
  Scope scope = Scope::thread;      // of a tile's results
  std::string intrinsic = {};       // which adds up the terms of `group_loop`, the innermost; empty: none
  std::string group_loop = {};
};

// The parts' loops of an axis are named `AXIS.0`, `AXIS.1` ..
std::string part_of(const Axis& axis, size_t part);
// The last part of an axis with these inner factors, as a loop of the tile, with the split that makes it.
// Vectors have the most lanes, up to `lanes`, that divide its extent: imperfect ones are none of a template.
TileLoop split_tile_loop(Tiling& tiling, const Compute& compute, size_t axis, std::vector<int64_t> factors,
                         LoopKind kind, int64_t lanes);
// Of the tile's results: registers where every loop is unrolled or vectorized and they are few.
Scope scope_of_results(const Tiling& tiling, const CostConstants& costs);
// An Error "too long: .." of what the tile and the unrolled parts of the sum become (space/program_length.h).
Status check_length_of(const Tiling& tiling, std::string_view block);

void write_tiling(Writer& writer, const Tiling& tiling);

}  // namespace lathe
