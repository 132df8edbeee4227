// Which of the extensions of targets (cpu_target.h) the processor has that this runs on. It needs nothing but
// the compiler: an artifact asks too.
#pragma once

#include <cpuid.h>

namespace lathe {

// Bit i is that of kExtensions[i]. Whether the operating system saves the registers is another question,
// which the instruction set that they extend answers.
inline unsigned processor_extensions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  unsigned extensions = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
  const unsigned subleafs = a;
  if ((c & (1u << 11)) != 0) extensions |= 2;  // AVX512_VNNI
  if (subleafs < 1 || !__get_cpuid_count(7, 1, &a, &b, &c, &d)) return extensions;
  if ((a & (1u << 4)) != 0) extensions |= 1;  // AVX_VNNI
  if ((a & (1u << 5)) != 0) extensions |= 4;  // AVX512_BF16
  return extensions;
}

}  // namespace lathe
