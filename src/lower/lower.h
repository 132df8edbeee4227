// Lowering: from a scheduled program to plain loops, stores and vector expressions, pass by pass. One list of
// named passes for each kind of target (pipelines/), one runner. Pure; safe to call from several threads at
// once.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "lower/buffers/plan_memory.h"
#include "target/target.h"

namespace lathe {

// What the code generators read. In `program` only serial, parallel, block and thread For, If, Seq, Alloc,
// Store, Prefetch and Barrier are left; each access has one index, the offset in elements; values are scalars
// or vectors.
struct LoweredProgram {
  Program program;
  MemoryPlan memory;
};

// No field changes what is computed.
struct LowerOptions {
  std::string stop_after;          // the name of the last pass to run; empty: all
  int64_t max_statements = 16384;  // stores and prefetches after unrolling; more is an Error
  bool verifies = false;           // check the invariants (loop/verify.h) of what each pass gives
  // Called after each pass with its name, its result and its time: to print, to count, to verify. An Error
  // ends the run. May be empty.
  std::function<Status(std::string_view pass, const Program& program, double seconds)> after_pass;
};

// Runs the passes of the target's kind. An Error names the reason: a tail that cannot
// be dropped, code that grows too large, a `stop_after` that is no pass. The memory plan is empty if the run
// stops early.
Result<LoweredProgram> lower(const Program& program, const Target& target, const LowerOptions& options = {});

}  // namespace lathe
