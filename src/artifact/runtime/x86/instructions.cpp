// artifact/runtime/instructions.h for x86.
#include "artifact/runtime/instructions.h"

#include <cstring>

#include "artifact/runtime/x86/copy_plane.h"
#include "target/cpu/x86/processor_extensions.h"

namespace lathe {
namespace {

bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

const char* lacking(uint32_t extensions) {
  constexpr const char* kNames[] = {"AVX-VNNI", "AVX-512 VNNI", "AVX-512 BF16"};
  const uint32_t there = extensions == 0 ? 0 : processor_extensions();
  for (int i = 0; i < 3; ++i) {
    if (((extensions & ~there) >> i & 1) != 0) return kNames[i];
  }
  return nullptr;
}

constexpr Instructions kInstructions[] = {
    {"x86-avx2", "AVX2 and FMA", has_avx2, lacking, transpose_plane_avx2},
    {"x86-avx512", "AVX-512", has_avx512, lacking, transpose_plane_avx512},
};

}  // namespace

const Instructions* find_instructions(const char* target) {
  for (const Instructions& known : kInstructions) {
    if (std::strcmp(known.target, target) == 0) return &known;
  }
  return nullptr;
}

}  // namespace lathe
