// What differs between the C-like languages that programs are printed in.
//
// Operations that have no operator are calls of functions named after operation and type, such as
// lathe_fma_f32: functions.h has them.
#pragma once

#include <string>

#include "expr/type.h"

namespace lathe::c_like {

struct Dialect {
  const char* (*value_type)(DType dtype);   // of a variable
  const char* (*memory_type)(DType dtype);  // of a buffer's element
  std::string (*float_literal)(DType dtype, double value);
  const char* prefetch;  // a function that takes an address
};

}  // namespace lathe::c_like
