// What OpenBLAS calls the kernels for a target's processors.
#pragma once

#include <string_view>

namespace lathe {

// The value of OPENBLAS_CORETYPE: on processors younger than itself it would choose kernels of the oldest.
// Null where it is left to choose.
const char* openblas_core(std::string_view target);

}  // namespace lathe
