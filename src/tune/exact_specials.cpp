#include "tune/exact_specials.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/apply.h"
#include "space/all.h"

namespace lathe {

Result<Task> with_exact_specials(Task task) {
  LATHE_TRY(const Space space, derive_space(task));
  const bool spreads = std::ranges::any_of(space.preferred_points(), [&](const Point& point) {
    const Result<Trace> trace = space.trace(point);
    return trace && spreads_specials(*trace);
  });
  if (!spreads) return task;
  if (!task.algorithm.empty()) {
    return fail(ErrorKind::unsupported,
                fmt::format("the task is to be computed by the algorithm '{}', which spreads infinities and "
                            "NaN to results beside them",
                            task.algorithm));
  }
  task.algorithm = kExactSpecials;
  return task;
}

}  // namespace lathe
