// OpenCL C 1.2: a function for each kernel of a lowered program. A block is a work-group, its threads are the
// work-items of one dimension.
#pragma once

#include <string>

#include "codegen/entry.h"
#include "lower/lower.h"
#include "module/module.h"

namespace lathe {

// Kernels are named after the entry, <entry>_0, <entry>_1, ...; their parameters are the buffers that
// `opencl_launches` lists for them. Errors as of check_lowered_kernels. The program needs 64-bit floats
// (cl_khr_fp64).
Result<std::string> emit_opencl(const LoweredProgram& lowered, const EntrySymbols& symbols);

// What to run, in order, for one entry.
std::vector<KernelLaunch> opencl_launches(const LoweredProgram& lowered, const Stmt& tree,
                                          const std::string& entry);

}  // namespace lathe
