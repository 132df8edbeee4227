// How programs for a processor that is not this machine's are made and run here.
#pragma once

#include <string>

#include "base/shell.h"

namespace lathe {

// Commands that are looked up in the PATH.
struct Emulation {
  std::string compiler;  // C
  std::string emulator;
};

// That of 64-bit Arm processors, which Debian's packages g++-aarch64-linux-gnu and qemu-user have.
inline Emulation aarch64_emulation() { return {"aarch64-linux-gnu-gcc", "qemu-aarch64"}; }

// Empty where both commands are there, else which one is missing.
inline std::string missing_of(const Emulation& emulation) {
  for (const std::string& command : {emulation.compiler, emulation.emulator}) {
    if (run_in_shell("command -v " + command + " > /dev/null") != 0) return command + " is missing";
  }
  return "";
}

}  // namespace lathe
