// VPDPBUSD. Its 16-bit sibling for older machines, VPMADDUBSW, saturates sums of two products and is no form
// of this: what lacks VNNI widens to 16 bits (dot2_i16.cpp).
#include "intrinsics/all.h"

namespace lathe {

Intrinsic dot4_u8_i8() {
  constexpr const char* k512 = "llvm.x86.avx512.vpdpbusd.512";
  constexpr const char* k256 = "llvm.x86.avx512.vpdpbusd.256";
  constexpr const char* k128 = "llvm.x86.avx512.vpdpbusd.128";
  return {"dot4_u8_i8",
          DType::i32,
          DType::u8,
          DType::i8,
          4,
          {{"x86-avx512", "avx512_vnni", 16, k512},
           {"x86-avx512", "avx512_vnni", 8, k256},
           {"x86-avx512", "avx512_vnni", 4, k128},
           {"x86-avx2", "avx_vnni", 8, k256},
           {"x86-avx2", "avx_vnni", 4, k128}}};
}

}  // namespace lathe
