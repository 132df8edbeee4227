#include "expr/type.h"

#include <fmt/format.h>

#include <array>

#include "base/check.h"

namespace lathe {
namespace {

struct DTypeInfo {
  DType dtype;
  const char* name;
  int64_t bytes;
  bool is_float;
};

constexpr std::array kDTypes = {
    DTypeInfo{DType::boolean, "bool", 1, false}, DTypeInfo{DType::i8, "i8", 1, false},
    DTypeInfo{DType::i32, "i32", 4, false},      DTypeInfo{DType::i64, "i64", 8, false},
    DTypeInfo{DType::f16, "f16", 2, true},       DTypeInfo{DType::bf16, "bf16", 2, true},
    DTypeInfo{DType::f32, "f32", 4, true},       DTypeInfo{DType::f64, "f64", 8, true}};

const DTypeInfo& info(DType dtype) {
  const DTypeInfo& entry = kDTypes[static_cast<size_t>(dtype)];
  LATHE_CHECK(entry.dtype == dtype);
  return entry;
}

}  // namespace

int64_t bytes_of(DType dtype) { return info(dtype).bytes; }
bool is_float(DType dtype) { return info(dtype).is_float; }
const char* to_string(DType dtype) { return info(dtype).name; }

std::string to_string(Type type) {
  if (type.lanes == 1) return to_string(type.dtype);
  return fmt::format("{}x{}", to_string(type.dtype), type.lanes);
}

Result<DType> parse_dtype(std::string_view text) {
  for (const DTypeInfo& entry : kDTypes) {
    if (text == entry.name) return entry.dtype;
  }
  return fail(ErrorKind::parse,
              fmt::format("'{}' is not a type; there are bool, i8, i32, i64, f16, bf16, f32, f64", text));
}

}  // namespace lathe
