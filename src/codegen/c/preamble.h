// What every emitted C file starts with.
#pragma once

#include <string>
#include <string_view>

#include "expr/type.h"

namespace lathe::c_backend {

// C's name of the type in which memory holds an element: "uint8_t", "float".
const char* type_name(DType dtype);

// Includes, the entries' types, and the functions that c_like's printers call; those of integers and of
// floats that nothing is computed in where the program calls them.
std::string preamble_of(std::string_view program);

}  // namespace lathe::c_backend
