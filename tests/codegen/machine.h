// Lowered programs through a backend to machine code and through a run, for comparison with the interpreter
// or with numbers written by hand.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lathe/kernel_abi.h"
#include "loop/host_tensor.h"
#include "lower/lower.h"
#include "module/module.h"
#include "target/target.h"

namespace lathe::testing {

enum class Backend { llvm, c };
const char* to_string(Backend backend);

// Compiles for this machine; the C backend's text by the system's compiler, which may not warn.
Result<Module> build(const LoweredProgram& lowered, Backend backend, int threads = 1);
// The same for another target, on one thread; the C backend's text by that compiler.
Result<Module> build_for(const LoweredProgram& lowered, Backend backend, const Target& target,
                         const std::string& compiler);

// A tensor's elements as they lie in memory; what lies between them is NaN.
void copy_in(const HostTensor& values, const Layout& layout, std::span<std::byte> bytes);
HostTensor copy_out(const Tensor& tensor, const Layout& layout, std::span<const std::byte> bytes);

// Fills the inputs, runs prepare and kernel, gives the outputs. Outputs, workspace, prepared buffers and the
// padding of inputs start as NaN. `pool_threads` 0 means no pool. Fails where anything was written outside of
// its buffer.
Result<std::vector<HostTensor>> run_machine(const LoweredProgram& lowered, Backend backend,
                                            std::span<const HostTensor> inputs, int pool_threads = 0);

// The same for a module that is compiled already; `arguments` with the layouts that it was compiled with.
Result<std::vector<HostTensor>> run_module(const Module& module, std::span<const Argument> arguments,
                                           std::span<const HostTensor> inputs, const LatheParallel* pool);

}  // namespace lathe::testing
