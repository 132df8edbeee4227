#include "expr/type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace lathe {
namespace {

constexpr bool rows_stand_in_order() {
  for (size_t i = 0; i < kDTypes.size(); ++i) {
    if (kDTypes[i].dtype != static_cast<DType>(i)) return false;
  }
  return true;
}
static_assert(rows_stand_in_order());

}  // namespace

double epsilon_of(DType dtype) { return std::ldexp(1.0, 1 - info_of(dtype).digits); }

double largest_of(DType dtype) {
  const DTypeInfo& info = info_of(dtype);
  return std::ldexp(2 - epsilon_of(dtype), info.exponent - 1);
}

double smallest_normal_of(DType dtype) { return std::ldexp(1.0, 2 - info_of(dtype).exponent); }

const char* to_string(DType dtype) { return info_of(dtype).name; }

std::string to_string(Type type) {
  if (type.lanes == 1) return to_string(type.dtype);
  return fmt::format("{}x{}", to_string(type.dtype), type.lanes);
}

Result<DType> parse_dtype(std::string_view text) {
  std::vector<std::string_view> names;
  for (const DTypeInfo& info : kDTypes) {
    if (text == info.name) return info.dtype;
    names.emplace_back(info.name);
  }
  return fail(ErrorKind::parse,
              fmt::format("'{}' is not a type; there are {}", text, fmt::join(names, ", ")));
}

}  // namespace lathe
