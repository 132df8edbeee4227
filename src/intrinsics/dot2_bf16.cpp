// VDPBF16PS: two multiply-adds, each rounded once to nearest even; subnormal operands and results count as 0
// (docs/numerics.md has the bound).
#include "intrinsics/all.h"

namespace lathe {

Intrinsic dot2_bf16() {
  return {"dot2_bf16",
          DType::f32,
          DType::bf16,
          DType::bf16,
          2,
          {{"x86-avx512", "avx512_bf16", 16, "llvm.x86.avx512bf16.dpbf16ps.512"},
           {"x86-avx512", "avx512_bf16", 8, "llvm.x86.avx512bf16.dpbf16ps.256"},
           {"x86-avx512", "avx512_bf16", 4, "llvm.x86.avx512bf16.dpbf16ps.128"}}};
}

}  // namespace lathe
