// What was learned of other tasks, to begin a search with: the best points that a records file has of tasks
// of the same kind, carried over to this one's space. A layer of a network that was tuned before, an operator
// in another size, so begin near where theirs ended.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "records/record_store.h"
#include "space/space.h"
#include "task/task.h"

namespace lathe {

// Of the tasks whose sizes are nearest, nearest first (itself, where another version of the compiler recorded
// its best), at most `most` points, none twice and none that the space prefers itself; all have programs. Of
// records of the same target, processor and number of cores alone. `space_name` is the row that the space was
// derived by. An Error where the records cannot be read.
Result<std::vector<Point>> related_points(const Task& task, const Space& space, std::string_view space_name,
                                          const RecordStore& records, size_t most);

}  // namespace lathe
