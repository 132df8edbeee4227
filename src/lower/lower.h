// Lowering: from a scheduled program to plain loops, stores and vector expressions, pass by pass.
#pragma once

#include "base/result.h"
#include "lower/plan_memory.h"

namespace lathe {

// What the code generators read. In `program` only serial and parallel For, If, Seq, Alloc, Store and Prefetch
// are left; each access has one index, the offset in elements; values are scalars or vectors.
struct LoweredProgram {
  Program program;
  MemoryPlan memory;
};

// Runs every pass. An Error names the pass's reason: a tail that cannot be dropped, code that grows too large.
Result<LoweredProgram> lower(const Program& program, const Target& target);

}  // namespace lathe
