// Compares what a trace makes of a task in every form: the naive program, the scheduled program, the lowered
// program (all three interpreted) and machine code.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"
#include "loop/host_tensor.h"
#include "lower/lower.h"
#include "module/module.h"
#include "runtime/thread_pool.h"
#include "schedule/trace.h"
#include "target/target.h"
#include "task/task.h"

namespace lathe::testing {

// An operator with odd little sizes.
struct SmallCase {
  const char* op;
  const char* parameters;
};
// Prime extents, extents of 1, batches of 1 and 2, strides, padding, groups.
std::span<const SmallCase> small_cases();
// The operators of the papers that those leave out, and some of theirs with more in a batch.
std::span<const SmallCase> other_small_cases();

// A task with its inputs and what the naive program makes of them.
struct Reference {
  Task task;
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> outputs;
};

Reference make_reference(Task task);
Reference make_reference(const SmallCase& small, const Target& target, bool free_layouts);
// Every case on each target, with one core and two, with fixed and free layouts.
std::vector<Reference> references(std::span<const SmallCase> cases);

// Empty, or the first element that differs by more than so much of its tensor's largest.
std::string first_difference(const std::vector<HostTensor>& expected, const std::vector<HostTensor>& got,
                             double tolerance);

struct TraceCounts {
  int traces = 0;
  int steps = 0;
  int compared = 0;                    // up to the lowered program
  int machine = 0;                     // as machine code too: where this machine can run it
  int c = 0;                           // of the C backend's text too, by the system's compiler
  std::map<std::string, int> refused;  // by lowering, by the beginning of the sentence
};

class TraceChecker {
 public:
  // `c_interval`: one in so many of the programs that become machine code goes through the C backend too,
  // which takes the system's compiler a tenth of a second; 0: none.
  explicit TraceChecker(int c_interval = 0) : c_interval_(c_interval) {}

  // Empty, or what is wrong.
  std::string check(const Reference& reference, const Trace& trace, Rng& rng);

  TraceCounts counts;

 private:
  std::string refuse(const Error& error);
  std::string check_lowered(const Reference& reference, const Program& program, const LoweredProgram& lowered,
                            double tolerance, Rng& rng);
  std::string check_module(const char* what, const Result<Module>& module, const Reference& reference,
                           const Program& lowered, double tolerance);

  int c_interval_ = 0;
  ThreadPool pool_{ThreadPool::Options{.threads = 2}};
};

// What is left of a failing trace when every step is dropped that it fails without; `through_c`: it fails in
// the C backend alone.
Trace shrink(const Reference& reference, Trace trace, bool through_c);

}  // namespace lathe::testing
