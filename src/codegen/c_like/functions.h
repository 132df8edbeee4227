// The functions that c_like's printers call, in the part of C99 that languages of devices have too. What
// comes before them defines fmaf, sqrtf, fabsf, copysignf, memcpy, the types of <stdint.h> with their limits,
// and LATHE_PREFETCH.
#pragma once

#include <string>
#include <string_view>

#include "codegen/c_like/dialect.h"

namespace lathe::c_like {

// C's name of the type in which memory holds an element: "uint8_t", "float".
const char* type_name(DType dtype);

// Those of integers, and of floats that nothing is computed in, where the program calls them; all others
// always.
std::string functions_of(std::string_view program);

// C99, and what other languages have of it.
extern const Dialect kC99;

}  // namespace lathe::c_like
