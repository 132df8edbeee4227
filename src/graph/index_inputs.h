// Which values of a network's input serve as places of an axis: what a caller must stay inside of.
#pragma once

#include <optional>

#include "expr/affine.h"
#include "graph/graph.h"

namespace lathe {

// The axis in which the node looks up what it reads second; nothing where it looks up nothing.
std::optional<size_t> looked_up_axis(const GraphOp& op);

// The places, negative ones among them, that every axis has in which the values of this integer input are
// looked up, as they are, moved or cast to a type that holds all; nothing where they are not. Where one value
// is looked up as another (a target that a loss ignores), from the least of it and the places to the largest.
std::optional<Interval> index_range(const Graph& graph, TensorId input);

}  // namespace lathe
