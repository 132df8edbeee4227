// Rule: a stage without a reduction runs in the order of its output's memory, in vectors, outer loops
// parallel. Where vectors cannot run along its last axis, its layout is chosen so that they can.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "space/rules/decider.h"
#include "space/rules/parallel.h"
#include "space/rules/placement.h"
#include "space/rules/vectors.h"

namespace lathe {

struct PointwiseDecision {
  std::string block;
  Places places = {};
  Placement placement = {};
  // Axes that memory holds in two parts, and their blocks' sizes.
  std::vector<std::pair<std::string, int64_t>> splits = {};
  std::vector<std::string> order = {};  // of the loops, as memory has them
  std::vector<std::string> fused = {};  // the two innermost, where they are one
  std::string vector_loop = {};         // empty: too short for vectors
  VectorTile tile = {};
  Tail tail = Tail::overlap;
  std::vector<std::string> vector_axes = {};
  SharedLoops outer = {};  // of a stage that is made whole
};
PointwiseDecision decide_pointwise(Decider& decider, const Stage& stage);
void write_pointwise(Writer& writer, const PointwiseDecision& decision);

}  // namespace lathe
