// A compiled program as a value: relocatable machine code and what a caller must know to run it.
// It knows bytes and roles, nothing of tensors: types, shapes and layouts stay with the Dag and the trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lathe {

// Who fills a buffer. `prepared` buffers are filled by the module's own prepare entry, once, from the
// constants, before any timing; a kernel reads them instead of the constants.
enum class BufferRole { input, constant, output, prepared };

struct ModuleBuffer {
  std::string name;
  BufferRole role = BufferRole::input;
  int64_t bytes = 0;  // as laid out in memory, block padding included
};

struct Module {
  std::string object;                        // a relocatable ELF object
  std::vector<std::string> extensions = {};  // of the target, whose instructions it has (target/target.h)
  std::string kernel_symbol;                 // the LatheKernel that does the work
  std::string prepare_symbol;         // the LatheKernel that fills the prepared buffers; empty: there is none
  std::vector<ModuleBuffer> buffers;  // in the order of the entry's `buffers` argument
  int64_t workspace_bytes = 0;        // for a pool of `threads` threads; kernel and prepare both fit in it
  int threads = 1;                    // the largest pool that the workspace has room for
};

}  // namespace lathe
