// Which values an input of a network may hold: those of places of an axis must stay inside of it, and others
// what the graph requires.
#pragma once

#include <optional>

#include "expr/affine.h"
#include "graph/graph.h"

namespace lathe {

// The axis in which the node looks up what it reads second; nothing where it looks up nothing.
std::optional<size_t> looked_up_axis(const GraphOp& op);

// What the values of this integer input must lie between. Those that are looked up, as they are, moved or
// cast to a type that holds all: the places, negative ones among them, that every axis has in which they are.
// Where one value is looked up as another (a target that a loss ignores), from the least of it and the places
// to the largest. And what the graph requires of the input. Nothing where they may be any.
std::optional<Interval> index_range(const Graph& graph, TensorId input);

// The values of an input of integers for which a bool of one element is that truth; nothing where it is not
// the comparison of one input with a constant, or no range of values makes it so.
std::optional<RequiredValues> values_for(const Graph& graph, TensorId condition, bool truth);

}  // namespace lathe
