#include "artifact/runtime/instructions.h"

#include <cstring>

#include "artifact/runtime/x86/copy_plane.h"

namespace lathe {
namespace {

bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

constexpr Instructions kInstructions[] = {
    {"x86-avx2", "AVX2 and FMA", has_avx2, transpose_plane_avx2},
    {"x86-avx512", "AVX-512", has_avx512, transpose_plane_avx512},
};

}  // namespace

const Instructions* find_instructions(const char* target) {
  for (const Instructions& known : kInstructions) {
    if (std::strcmp(known.target, target) == 0) return &known;
  }
  return nullptr;
}

}  // namespace lathe
