#include "target/cpu/aarch64/aarch64.h"

namespace lathe {

Target generic_neon() {
  CpuTarget cpu;
  cpu.vector_bytes = 16;
  cpu.vector_registers = 32;
  cpu.l1 = {.bytes = 64 << 10, .ways = 4};
  cpu.l2 = {.bytes = 1 << 20, .ways = 8};
  cpu.l3 = {.bytes = 32 << 20, .ways = 16};
  return {"aarch64-neon", "generic", cpu};
}

}  // namespace lathe
