// Lowered programs for a processor that is not this machine's: compiled here, linked by the cross compiler
// and run under an emulator.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "codegen/machine.h"
#include "target/target.h"

namespace lathe::testing {

// How programs of one architecture are made and run on another, by commands that are looked up in the PATH.
struct Emulation {
  std::string compiler;  // C
  std::string emulator;
};

// That of 64-bit Arm processors, which Debian's packages g++-aarch64-linux-gnu and qemu-user have.
Emulation aarch64_emulation();
// Empty where both commands are there, else which one is missing.
std::string missing_of(const Emulation& emulation);

// Like run_machine, on one thread. Fails where the emulated program wrote outside of its buffers, too.
Result<std::vector<HostTensor>> run_emulated(const LoweredProgram& lowered, Backend backend,
                                             const Target& target, const Emulation& emulation,
                                             std::span<const HostTensor> inputs);

}  // namespace lathe::testing
