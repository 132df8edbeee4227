// g(e, s): the function that takes a task and a schedule to machine code. The tuner, artifacts, the command
// line and bindings reach machine code through this file and nothing else. Every function is pure and
// thread-safe: candidates compile while others are measured, and the same task and trace give the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "loop/loop.h"
#include "module/module.h"
#include "schedule/trace.h"
#include "task/task.h"

namespace lathe {

struct CompileOptions {
  std::string symbol_prefix =
      "lathe";  // a C identifier: the entries are <prefix>_kernel and <prefix>_prepare
  int64_t max_statements =
      16384;  // after unrolling: more is an Error, before the backend takes seconds for it
};

// What a compilation took and what it gave.
struct CompileStats {
  double apply_seconds = 0;    // trace to scheduled program
  double lower_seconds = 0;    // scheduled to lowered program
  double emit_seconds = 0;     // lowered program to the backend's own form
  double passes_seconds = 0;   // the backend's passes
  double machine_seconds = 0;  // instruction selection to bytes
  int innermost_loops = 0;     // in the machine code
  int stack_references = 0;    // instructions in them that touch the stack: spills; 0 in a good register tile

  double seconds() const {
    return apply_seconds + lower_seconds + emit_seconds + passes_seconds + machine_seconds;
  }
};

// An Error: an illegal step (illegal_schedule), a program that lowering refuses, or the backend's failure
// (build).
Result<Module> compile(const Task& task, const Trace& trace, const CompileOptions& options = {},
                       CompileStats* stats = nullptr);

// The part below the trace: a scheduled program to a module whose workspace serves as many threads as the
// target has cores.
Result<Module> compile_program(const Program& program, const Target& target,
                               const CompileOptions& options = {}, CompileStats* stats = nullptr);

// A program as text: "loops" (scheduled), "lowered", and what the backends print (codegen/all.cpp).
std::vector<std::string> code_forms();

// The code of a task and trace for people or for another compiler, in a form of that name. An Error where
// there is no such form, or none of the task's target.
Result<std::string> emit_text(const Task& task, const Trace& trace, const std::string& form,
                              const CompileOptions& options = {});

}  // namespace lathe
