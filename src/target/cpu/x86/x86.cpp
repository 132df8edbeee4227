#include "target/cpu/x86/x86.h"

namespace lathe {
namespace {

Target generic(const char* name, int vector_bytes, int vector_registers) {
  CpuTarget cpu;
  cpu.vector_bytes = vector_bytes;
  cpu.vector_registers = vector_registers;
  cpu.l1 = {.bytes = 32 << 10, .ways = 8};
  cpu.l2 = {.bytes = 1 << 20, .ways = 16};
  cpu.l3 = {.bytes = 32 << 20, .ways = 16};
  return {name, "generic", cpu};
}

}  // namespace

Target generic_avx2() { return generic("x86-avx2", 32, 16); }
Target generic_avx512() { return generic("x86-avx512", 64, 32); }

}  // namespace lathe
