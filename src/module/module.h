// A compiled program as a value: relocatable machine code, or text and its launches, and what a caller must
// know to run it.
// It knows bytes and roles, nothing of tensors: types, shapes and layouts stay with the Dag and the trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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

// A function of a module's text that a device runs, once for each thread of each block.
struct KernelLaunch {
  std::string function;
  int64_t blocks = 1;
  int64_t threads = 1;           // of a block
  std::vector<int> buffers;      // its parameters, as places in the module's `buffers`
  bool needs_workspace = false;  // it is the last parameter
};

// A relocatable ELF object, which processors run.
inline constexpr std::string_view kObjectForm = "object";

struct Module {
  std::string form =
      std::string(kObjectForm);            // or that of a row of the table of devices (runtime/device.cpp)
  std::string object;                      // of another form: text for the device's own compiler
  std::vector<KernelLaunch> kernels = {};  // of a form that has launches: what the work is, in order
  std::vector<KernelLaunch> prepare_kernels = {};  // and what fills the prepared buffers
  std::vector<std::string> extensions = {};  // of the target, whose instructions it has (target/target.h)
  std::string kernel_symbol;                 // the LatheKernel that does the work
  std::string prepare_symbol;         // the LatheKernel that fills the prepared buffers; empty: there is none
  std::vector<ModuleBuffer> buffers;  // in the order of the entry's `buffers` argument
  int64_t workspace_bytes = 0;        // for a pool of `threads` threads; kernel and prepare both fit in it
  int threads = 1;                    // the largest pool that the workspace has room for
};

}  // namespace lathe
