// Which tasks are to be kept from programs that spread infinities and NaN (docs/numerics.md).
#pragma once

#include "base/result.h"
#include "task/task.h"

namespace lathe {

// The task with `kExactSpecials` as its algorithm where some program of its space spreads them; any other
// task as it is, so that its records serve both. An Error of kind unsupported where it requires an algorithm
// that does.
Result<Task> with_exact_specials(Task task);

}  // namespace lathe
