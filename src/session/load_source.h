// From what a caller names to what is tuned and compiled.
#pragma once

#include <optional>
#include <vector>

#include "artifact/compile_model.h"
#include "base/result.h"
#include "session/program_source.h"

namespace lathe {

// The operators that the source's workload file and filter name.
Result<std::vector<Workload>> load_workloads(const ProgramSource& source);
// The type that `precision` names; none where it is empty.
Result<std::optional<DType>> precision_of(const ProgramSource& source);
// The network in the source's model, for this target.
Result<Network> load_network(const ProgramSource& source, const Target& target);
// The task that an operator is tuned as; errors name the operator.
Result<Task> task_of(const Workload& workload, const Target& target, bool free_layouts, bool exact_specials);

}  // namespace lathe
