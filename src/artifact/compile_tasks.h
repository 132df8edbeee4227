// A network's tasks to the programs of its artifact: compiled, brought within the limit of weights, compared
// with references; several at a time where the process has the cpus.
#pragma once

#include <vector>

#include "artifact/compile_model.h"

namespace lathe {

// One program for each task, in order. Whatever the options have called is called in the calling thread
// alone, but for `another_runner`, which each other thread calls. An Error where a task has no right program.
Result<std::vector<CompiledTask>> compile_tasks(const Network& network, const CompileModelOptions& options);

}  // namespace lathe
