// VPDPWSSD where there is VNNI, else VPMADDWD and an addition, which every x86 target has. The one sum of two
// products that i32 does not hold, (-2^15)^2 twice, wraps around in both.
#include "intrinsics/all.h"

namespace lathe {

Intrinsic dot2_i16() {
  constexpr const char* kAdds512 = "llvm.x86.avx512.vpdpwssd.512";
  constexpr const char* kAdds256 = "llvm.x86.avx512.vpdpwssd.256";
  constexpr const char* kAdds128 = "llvm.x86.avx512.vpdpwssd.128";
  constexpr const char* k512 = "llvm.x86.avx512.pmaddw.d.512";
  constexpr const char* k256 = "llvm.x86.avx2.pmadd.wd";
  constexpr const char* k128 = "llvm.x86.sse2.pmadd.wd";
  return {"dot2_i16",
          DType::i32,
          DType::i16,
          DType::i16,
          2,
          {{"x86-avx512", "avx512_vnni", 16, kAdds512},
           {"x86-avx512", "avx512_vnni", 8, kAdds256},
           {"x86-avx512", "avx512_vnni", 4, kAdds128},
           {"x86-avx512", "", 16, k512, false},
           {"x86-avx512", "", 8, k256, false},
           {"x86-avx512", "", 4, k128, false},
           {"x86-avx2", "avx_vnni", 8, kAdds256},
           {"x86-avx2", "avx_vnni", 4, kAdds128},
           {"x86-avx2", "", 8, k256, false},
           {"x86-avx2", "", 4, k128, false}}};
}

}  // namespace lathe
