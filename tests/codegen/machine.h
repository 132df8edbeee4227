// Lowered programs through a backend to machine code and through a run, for comparison with the interpreter
// or with numbers written by hand.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lathe/kernel_abi.h"
#include "loop/host_tensor.h"
#include "lower/lower.h"
#include "runtime/module.h"

namespace lathe::testing {

enum class Backend { llvm, c };
const char* to_string(Backend backend);

// Compiles for this machine; the C backend's text by the system's compiler, which may not warn.
Result<Module> build(const LoweredProgram& lowered, Backend backend, int threads = 1);

// Fills the inputs, runs prepare and kernel, gives the outputs. Outputs, workspace, prepared buffers and the
// padding of inputs start as NaN. `pool_threads` 0 means no pool. Fails where anything was written outside of
// its buffer.
Result<std::vector<HostTensor>> run_machine(const LoweredProgram& lowered, Backend backend,
                                            std::span<const HostTensor> inputs, int pool_threads = 0);

// The same for a module that is compiled already; `arguments` with the layouts that it was compiled with.
Result<std::vector<HostTensor>> run_module(const Module& module, std::span<const Argument> arguments,
                                           std::span<const HostTensor> inputs, const LatheParallel* pool);

}  // namespace lathe::testing
