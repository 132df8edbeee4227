// What one iteration of a loop makes a block write, as loops to go through it again: for the copy that takes
// it out (cache_write) and for a consumer that follows it (reverse_compute_at). Exactly what is written: an
// element more would be read before it is there.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "schedule/primitive.h"

namespace lathe {

struct WrittenNest {
  std::vector<std::pair<Var, int64_t>> loops;  // with their extents, outermost first
  std::vector<Affine> index;                   // one a dimension, over `loops` and the loops around
  std::vector<Conjunct> conditions;            // on the same; `axis` is the dimension that it cuts, or -1
};

// `position` is the loop's in the writer's path. Where the elements are a box, up to what lies beyond the
// domains of the writer's axes, there is one loop a dimension, of the given names; else there are copies of
// the loops that drive the writer there.
WrittenNest written_nest(const Located& writer, size_t position, const std::vector<std::string>& names);

// Wraps a block in the loops.
Stmt in_loops(Block block, const std::vector<std::pair<Var, int64_t>>& loops);

}  // namespace lathe
