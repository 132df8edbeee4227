// Lowered programs for a processor that is not this machine's: compiled here, linked by the cross compiler
// and run under an emulator.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/emulation.h"
#include "codegen/machine.h"
#include "target/target.h"

namespace lathe::testing {

// Like run_machine, on one thread. Fails where the emulated program wrote outside of its buffers, too.
Result<std::vector<HostTensor>> run_emulated(const LoweredProgram& lowered, Backend backend,
                                             const Target& target, const Emulation& emulation,
                                             std::span<const HostTensor> inputs);

}  // namespace lathe::testing
