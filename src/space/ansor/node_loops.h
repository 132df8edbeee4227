// The loops of one node: its axes cut into parts, each in its level ([B] II-B, "SSRSRS"), without parts of
// one place. Pure values; steps are written of them elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/trace.h"
#include "space/ansor/annotation.h"

namespace lathe {

// A loop that there is, and what it is to be cut into.
struct UncutLoop {
  std::string name;
  int64_t extent = 1;
  size_t axis = 0;
  bool reduces = false;
  std::vector<int> levels = {kOuter};
  std::vector<int64_t> factors = {};  // inner ones, one fewer than levels; none: all in the first level
};

struct NodeLoop {
  std::string name;
  int64_t extent = 1;
  size_t axis = 0;
  bool reduces = false;
  int level = kOuter;
};

struct NodeLoops {
  std::string block;
  Trace splits = {};
  std::vector<NodeLoop> loops = {};     // outermost first
  std::vector<UncutLoop> spatial = {};  // the spatial axes, in the order in which they came

  std::vector<std::string> names() const;
  // The innermost loop of the levels up to this one.
  std::optional<size_t> last_up_to(int level) const;
  bool has_level(int level) const;
  // The product of the extents of the axis' loops inside of this one; of all of them inside of none.
  int64_t extent_inside(std::optional<size_t> loop, size_t axis) const;
};

// The uncut loops come in the order that they have in every level; `vector`: the one of them whose innermost
// part gives the lanes. The first spatial one keeps its outermost part where no other is in that level.
NodeLoops cut(std::string block, const std::vector<UncutLoop>& uncut, std::optional<size_t> vector,
              int64_t lanes);

// How many places along a loop are one vector: all, up to 16 ([B]'s code), else the most that leave no rest,
// whole vectors of the machine before others.
int64_t vectorized_places(int64_t extent, int64_t lanes);

}  // namespace lathe
