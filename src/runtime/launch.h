// Running a module in this process: buffers that a caller fills and reads, prepare, kernel. For tests, the
// command line's own use and timing; candidates that nobody has checked yet run in a worker process
// (measure/) instead.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "module/module.h"
#include "runtime/buffer.h"
#include "runtime/loader.h"
#include "runtime/open_guards.h"

namespace lathe {

// Calls one entry. `workspace` has room for what the module asks; `pool` may be null. An entry that returns
// another value than 0 is an error of the program.
Status launch(LatheKernel entry, std::span<void* const> buffers, void* workspace, const LatheParallel* pool);

// The pool that a module may be given: at most as many threads as its workspace has room for. `parallel` has
// room for the limited copy and must live as long as the result. Null where the module stays on one thread.
const LatheParallel* limit_pool(const Module& module, const LatheParallel* pool, LatheParallel& parallel);

// A loaded module with all its buffers and workspace, each between guard pages. Not thread-safe.
class Instance {
 public:
  // Loads the code and allocates zeroed inputs and constants, and outputs and prepared buffers full of NaN.
  static Result<Instance> create(const Module& module, PagePlace place = PagePlace::end);

  // The bytes of the buffer with that place in module.buffers.
  std::span<std::byte> buffer(size_t index) { return buffers_[index].bytes(); }
  // Fills the prepared buffers from the constants; nothing where the module has no prepare entry.
  Status prepare(const LatheParallel* pool = nullptr);
  // Leaves the page behind each buffer open from now on, for timing (runtime/open_guards.h).
  void open_guards();
  // Runs the kernel once.
  Status run(const LatheParallel* pool = nullptr);
  // An error that names the first buffer whose slack was overwritten.
  Status check_slack() const;

 private:
  Status launch_entry(LatheKernel entry, const LatheParallel* pool);

  Module module_;  // without its object
  LoadedModule code_;
  std::vector<GuardedBuffer> buffers_;
  std::vector<void*> pointers_;
  GuardedBuffer workspace_;
  OpenGuards guards_;  // of both
};

}  // namespace lathe
