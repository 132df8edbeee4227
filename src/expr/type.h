// Element types, scalar or vector. f32 is what today's passes compute in; the others have a size, a name and
// a place in every switch, so that low precision arrives as new cases and not as a new type system.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lathe {

enum class DType : uint8_t { boolean, i8, i32, i64, f16, bf16, f32, f64 };

struct Type {
  DType dtype = DType::f32;
  int lanes = 1;

  auto operator<=>(const Type&) const = default;
};

int64_t bytes_of(DType dtype);
bool is_float(DType dtype);
// "f32", "i8", "bool" ...
const char* to_string(DType dtype);
// "f32" or "f32x16".
std::string to_string(Type type);
Result<DType> parse_dtype(std::string_view text);

}  // namespace lathe
