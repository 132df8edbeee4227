// The loops of a graph: which nodes each one's body is made of, and which loop stands in which. Nothing but
// the operators at their borders says so (graph/operators/loop_steps.h): a node belongs to the loops whose
// entries it depends on, and to those around a loop that does; what depends on none runs outside.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace lathe {

struct LoopNest {
  struct Loop {
    StepLoop loop;
    std::optional<size_t> parent;  // the loop in whose body this one stands
  };
  std::vector<Loop> loops;                     // in the order in which the nodes name them
  std::vector<std::optional<size_t>> of_node;  // the innermost loop of each node, borders included

  // Whether the loop is that one or stands in it; everything stands outside of all.
  bool is_within(std::optional<size_t> loop, std::optional<size_t> outer) const;
  // The loop around that one's part of `outer`: the one next to `outer` on the way in. `loop` must stand
  // within `outer` and be another.
  size_t child_towards(std::optional<size_t> outer, size_t loop) const;
};

// An Error where loops overlap, or one name stands for loops of different lengths.
Result<LoopNest> loops_of(const Graph& graph);

// The same graph with the nodes of each loop behind each other, otherwise in their order. An Error as
// `loops_of` has it, or where a loop reads what comes of it.
Result<Graph> with_whole_loops(const Graph& graph);

}  // namespace lathe
