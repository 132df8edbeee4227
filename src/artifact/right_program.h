// Which program of a task goes into an artifact: the one that is chosen (tune/choose_trace.h), and another in
// its place where it does not compile any more or computes something wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "artifact/compile_model.h"
#include "tune/choose_trace.h"

namespace lathe {

// The first that compiles, not compared with anything. The records whose programs do not compile are told of
// and added to `wrong`. An Error where nothing compiles.
Result<CompiledTask> first_program(const Task& task, const CompileModelOptions& options,
                                   FreeLayouts free_layouts, size_t number, std::vector<int64_t>& wrong);

// That program once it is compared as the options have it (check_program.h); while it is wrong, the next
// record's that is not in `wrong`, the untuned or at last the naive one. An Error where none is right.
Result<CompiledTask> right_program(const Task& task, CompiledTask first, const CompileModelOptions& options,
                                   FreeLayouts free_layouts, size_t number, std::vector<int64_t> wrong);

}  // namespace lathe
