// Rule: stages that share leading axes run together for a block of rows, so that what lies between them stays
// in the caches: a product of scores, their largest, the exponentials, their sum and the quotient, or the
// product with values, pass over memory once. Vectors run along the last axis inside a row; a reduction keeps
// partial results in the lanes, for several rows side by side.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/row_block.h"
#include "space/rules/product/product.h"
#include "space/rules/vectors.h"

namespace lathe {

// The place among the block's common axes of the one that is cut: the rows of a product's tile, where there
// is one among the stages. Nothing where such a product's vectors would run along a common axis, or where the
// tiles of two have other rows.
std::optional<size_t> rows_of_block(const RowBlock& block, const std::map<size_t, TileAxes>& tiles);

// An element-wise stage inside the rows.
struct RowVectors {
  size_t stage = 0;
  Places places = {};
  std::optional<size_t> axis = {};  // none: too short for vectors
  VectorTile tile = {};
};
// A reduction that keeps partial results in the lanes.
struct RowSums {
  size_t stage = 0;
  int64_t together = 1;  // rows side by side
};
// A reduction as it is, or what a product takes along.
struct RowPlain {
  size_t stage = 0;
};
using RowMember = std::variant<RowVectors, RowSums, ProductDecision, RowPlain>;

struct RowBlockDecision {
  RowBlock block;
  size_t rows = 0;  // the place among the common axes of the one that is cut
  int64_t size = 1;
  RowVectors last = {};
  std::vector<RowMember> members = {};  // in the order in which they are written, from the last to the first
};
// `rows_of_block` must have found its rows.
RowBlockDecision decide_row_block(Decider& decider, const RowBlock& block,
                                  const std::map<size_t, TileAxes>& tiles);
void write_row_block(Writer& writer, const RowBlockDecision& decision);

}  // namespace lathe
