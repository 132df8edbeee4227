// Ansor's sketches by rules ([B] II-B, table I): the nodes are visited from the output to the inputs, and
// what is known so far is a state. Of each state the rules are tried in the order of one table: a rule that
// fits gives states of its own, and one that is the last ends the list. The states at the inputs are the
// outlines. Pure.
#pragma once

#include <string>
#include <vector>

#include "schedule/trace.h"
#include "space/ansor/node_facts.h"
#include "task/task.h"

namespace lathe {

enum class Structure : uint8_t {
  whole,      // its loops as they are
  prepared,   // computed of constants, at load time
  along,      // taken point by point in the loops of the node before it
  unrolled,   // a sum over a table of literals, which is written out
  tiled,      // "SSRSRS": all spatial loops of a level, or all reduce loops, for each letter
  rfactored,  // a reduction in parts
};

struct NodeOutline {
  std::string node = {};
  Structure structure = Structure::whole;
  // Tiled: results are taken at the end of each tile of so many levels, 0: they are written where they
  // belong. What takes them is a copy made for that, or else the element-wise consumer.
  int level = 0;
  bool is_cached = false;
  bool inner = false;  // rfactored: the inner part becomes the axis, else the outer one
};

struct Outline {
  Dag dag;                         // without the nodes that are always inlined
  Trace steps;                     // which make it of the task's
  std::vector<NodeOutline> nodes;  // one a compute, in that order

  // Of what was decided; "whole" where nothing was.
  std::string name() const;
  const NodeOutline& of(const std::string& node) const;
};

// At most 64, the first ones.
std::vector<Outline> outlines_of(const Task& task, const CostConstants& costs);

}  // namespace lathe
