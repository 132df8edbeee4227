// The loops that a node's config makes of its nest ([F] 4.2, figure 3d), as a value: which splits, in which
// order, which are fused, unrolled and vectorised. Pure functions; nothing is asked and nothing written.
//
//   levels 0: S0 S1 S2 R0 R1 R2 S3    the whole sum of a tile of results at a time
//   levels 1: S0 S1 R0 S2 R1 R2 S3    of more tiles a part of the sum at a time
//   levels 2: S0 R0 S1 R1 S2 R2 S3    the same at every level
//
// S are the spatial loops of a level, R the reduce loops; parts of one iteration are no loops. Nodes without
// reduce loops have S alone. The innermost loop is cut once more where it is longer than a vector: a vector
// has the largest divisor of it that the target's registers hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loop/loop.h"
#include "schedule/trace.h"
#include "space/flextensor/config.h"

namespace lathe {

struct NestLoop {
  std::string name;
  size_t axis = 0;
  int64_t extent = 1;
  bool reduces = false;
  bool is_in_tile = false;  // of the innermost spatial level
  LoopKind kind = LoopKind::serial;
};

struct NodeNest {
  std::string block;
  std::vector<SplitStep> splits = {};
  // Down to the last spatial loop around the innermost tile, before loops are fused; then all others.
  std::vector<NestLoop> outer = {};
  std::vector<NestLoop> inner = {};
  size_t first_fused = 0;  // in `outer`, the parallel ones
  size_t fused = 0;
  std::optional<size_t> vector_axis = {};  // nothing: no vectors
  int64_t lanes = 1;                       // of a vector
  int64_t statements = 1;                  // that the body becomes by unrolling

  // The outer loops once some are fused, and the places of three of them there: the parallel one, the one
  // around the tile, and the last around all reduce loops. Nothing where there is none.
  std::vector<std::string> outer_names() const;
  std::optional<size_t> parallel_loop() const;
  std::optional<size_t> tile_loop() const;
  std::optional<size_t> whole_sum_loop() const;
  // Whether every loop of the tile is written out or a vector, so that its results can stay in registers.
  bool has_whole_tile() const;
  // The vectors of results in a tile.
  int64_t vectors_of_tile() const;
  // The iterations of the innermost loop over an axis.
  int64_t innermost_extent(size_t axis) const;
  // How many places of an axis an iteration of that outer loop (a place in outer_names) goes through.
  int64_t extent_inside(size_t outer_loop, size_t axis) const;
};

// `compute` is what the node has become by inlining.
NodeNest nest_of(const Compute& compute, const NodeConfig& config, int64_t lanes);

}  // namespace lathe
