// artifact/runtime/x86/copy_plane.h with AVX-512.
#include "artifact/runtime/x86/copy_plane.h"
#include "artifact/runtime/x86/transpose_plane.h"

namespace lathe {

void transpose_plane_avx512(const CopyPlane& plane, int32_t element_bytes) {
  transpose_plane(plane, element_bytes);
}

}  // namespace lathe
