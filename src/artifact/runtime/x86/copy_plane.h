// Transposition by vectors, compiled once for each set of instructions.
#pragma once

#include "artifact/runtime/copy_plane.h"

namespace lathe {

// For elements of 1, 2, 4 or 8 bytes.
void transpose_plane_avx2(const CopyPlane& plane, int32_t element_bytes);
void transpose_plane_avx512(const CopyPlane& plane, int32_t element_bytes);

}  // namespace lathe
