#include "intrinsics/all.h"

#include <array>

namespace lathe {

std::span<const Intrinsic> intrinsics() {
  static const std::array kAll = {dot4_u8_i8(), dot2_bf16(), dot2_i16()};
  return kAll;
}

}  // namespace lathe
