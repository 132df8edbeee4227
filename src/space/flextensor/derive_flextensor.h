// The space `flextensor` ([F] 4, 5.3): one sketch, generated from the task's mini-graph for processors. What
// its points are, config.h says; there is no template for any operator, and no algorithm but the Dag itself,
// as [F] 6.2 says of its own. [F] searches from random points, so none is worth trying first.
#pragma once

#include "space/flextensor/schedule_for_graph.h"
#include "space/space.h"

namespace lathe {

// An Error of kind unsupported for other targets, and for a task that requires an algorithm.
Result<Space> derive_flextensor(const Task& task);
Result<Space> derive_flextensor(const Task& task, NodeOrder order);

}  // namespace lathe
