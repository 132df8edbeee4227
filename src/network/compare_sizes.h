// A network that was read at two sizes of a dimension: what tells them apart. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "network/free_parts.h"

namespace lathe {

// Of each tensor the axes that have the dimension's size in a network that was read at two sizes: those too
// that follow it without any input's doing so, of constants and of what is repeated. None where the graphs
// differ in more than that.
std::vector<FreeParts> compare_sizes(const Graph& graph, int64_t size, const Graph& other,
                                     int64_t other_size);

// The same where a network is read at one size: integers that number so many places, or are the same at each,
// places of a table that are taken in turn, and what is repeated so often.
std::vector<FreeParts> numbering_constants(const Graph& graph, int64_t size);

// The constants that nodes of the graph read and that are other ones of the same shape there.
std::vector<TensorId> numbers_of_size(const Graph& graph, const Graph& other);

// An Error that names the first node, input or constant in which they differ; `what` is what it says of the
// second graph: "at size 5". What is computed of constants in one of them may be a constant in the other.
Status check_same(Graph graph, Graph other, const std::string& what);

}  // namespace lathe
