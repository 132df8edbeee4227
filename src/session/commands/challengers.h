// Untuned programs that may take the places of tuned ones in a network's artifact.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "artifact/compile_model.h"
#include "base/result.h"

namespace lathe {

// By the number of their task.
using Challengers = std::map<size_t, CompiledTask>;

// Of the tasks whose programs have a record, those that have one of the untuned program too: it ran in a
// worker, and what it computed was looked at. All of them together keep no more weights than the options
// allow. Compared with nothing. An Error where the options' records, which must be there, cannot be read.
Result<Challengers> challengers_of(const Network& network, const CompileModelOptions& options,
                                   const std::vector<CompiledTask>& programs);

// The programs with these in their places.
std::vector<CompiledTask> with(std::vector<CompiledTask> programs, const Challengers& challengers);

}  // namespace lathe
