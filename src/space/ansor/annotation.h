// The random annotation of an outline ([B] II-B and C; what is random is that of the code that [B] V builds
// on): all that a sketch leaves open, each question by a name whose first part says which of Ansor's
// mutations moves it:
//   tile.C.x     inner factors of an axis of a tiled node (innermost at most 64), or of a reduction in parts
//   unroll.C     loops inside are written out while their product is at most this
//   at.C         where a node that is not tiled is computed: 0 at the root, then the loops of the node that
//                reads it, outermost first, and last, where it may, inline
//   parallel.C   outer loops become one until it has more than so many iterations for each core
// Questions and their order depend on the outline alone. Where the code draws more, all of it is fixed here:
// vectors are as long as they may be, and a node is computed in loops of its reader, not of that one's
// reader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "space/ansor/outline.h"
#include "space/chooser.h"

namespace lathe {

// Levels of a node's loops, outermost first: those of "SSRSRS", and the lanes of vectors. A node that is not
// tiled has its spatial loops in the first, what it reduces over in `kInnerReduce`.
enum TileLevel : int8_t { kOuter, kMiddle, kOuterReduce, kInner, kInnerReduce, kInnermost, kLanes };

// A loop of a node in which a producer of it may be computed; one of all that there may be, since factors of
// one leave loops out.
struct LoopPlace {
  int level = 0;
  size_t axis = 0;
};
// Outermost first, where the axes come in this order in every level: no reduce loop of a node that is not
// tiled, and none inside the first reduce loops of one that is.
std::vector<LoopPlace> places_in(const Compute& compute, const NodeOutline& outline,
                                 const std::vector<size_t>& order);
// How many that are, in any order.
int64_t count_places(const Compute& compute, const NodeOutline& outline);

// The levels into which an axis is cut, outermost first; one: it stays whole.
std::vector<int> levels_of(const Compute& compute, size_t axis, Structure structure);

struct NodeAnswers {
  std::vector<std::vector<int64_t>> factors = {};  // inner ones, by axis
  int64_t part = 1;                                // rfactored: the inner factor of all reduce axes together
  int64_t unroll = 0;
  int64_t place = 0;  // 0: the root, else a place of the reader from 1 on
  bool is_inlined = false;
  int64_t partial_unroll = 0;  // the same two of the partial results, which the node itself reads
  int64_t partial_place = 0;
  int64_t pieces = 0;  // for each core; 0: one core does all
};

// One entry a node, in the outline's order.
std::vector<NodeAnswers> annotate(const Task& task, const Outline& outline, const CostConstants& costs,
                                  Chooser& chooser);

}  // namespace lathe
