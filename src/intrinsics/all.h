// The list of intrinsics, one a file.
#pragma once

#include "intrinsics/intrinsic.h"

namespace lathe {

// u8 times i8, four together, into i32 (VNNI's VPDPBUSD): exact, wraps around.
Intrinsic dot4_u8_i8();
// bf16 times bf16, two together, into f32 (VDPBF16PS).
Intrinsic dot2_bf16();
// i16 times i16, two together, into i32 (VPMADDWD, VNNI's VPDPWSSD): exact, wraps around. Also of u8 and i8,
// which i16 holds.
Intrinsic dot2_i16();

}  // namespace lathe
