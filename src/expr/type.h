// Element types, scalar or vector. What a type is, its size, limits, how it is computed and stored, stands in
// this file: one row of the table and one case of `visit_storage`. Conversions of floats that are stored
// narrow are in base/half_float.h and the backends, names in files where those are read.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/half_float.h"
#include "base/result.h"

namespace lathe {

// The order is part of every task's hash: a new type comes last.
enum class DType : uint8_t { boolean, i8, i32, i64, f16, bf16, f32, f64, u8, i16, u16, u32, u64 };

enum class NumberKind : uint8_t { boolean, signed_integer, unsigned_integer, floating };

struct DTypeInfo {
  DType dtype;
  const char* name;
  NumberKind kind;
  int bytes;  // in memory
  // Bits of a float's significand, the leading one included, or of an integer's magnitude.
  int digits;
  // Finite floats lie below 2^exponent.
  int exponent;
  // In which its values are computed: where that is another type, elements are widened when they are loaded
  // and rounded to nearest even when they are stored.
  DType computed_in;
};

constexpr std::array kDTypes = {
    DTypeInfo{DType::boolean, "bool", NumberKind::boolean, 1, 1, 0, DType::boolean},
    DTypeInfo{DType::i8, "i8", NumberKind::signed_integer, 1, 7, 0, DType::i8},
    DTypeInfo{DType::i32, "i32", NumberKind::signed_integer, 4, 31, 0, DType::i32},
    DTypeInfo{DType::i64, "i64", NumberKind::signed_integer, 8, 63, 0, DType::i64},
    DTypeInfo{DType::f16, "f16", NumberKind::floating, 2, 11, 16, DType::f32},
    DTypeInfo{DType::bf16, "bf16", NumberKind::floating, 2, 8, 128, DType::f32},
    DTypeInfo{DType::f32, "f32", NumberKind::floating, 4, 24, 128, DType::f32},
    DTypeInfo{DType::f64, "f64", NumberKind::floating, 8, 53, 1024, DType::f64},
    DTypeInfo{DType::u8, "u8", NumberKind::unsigned_integer, 1, 8, 0, DType::u8},
    DTypeInfo{DType::i16, "i16", NumberKind::signed_integer, 2, 15, 0, DType::i16},
    DTypeInfo{DType::u16, "u16", NumberKind::unsigned_integer, 2, 16, 0, DType::u16},
    DTypeInfo{DType::u32, "u32", NumberKind::unsigned_integer, 4, 32, 0, DType::u32},
    DTypeInfo{DType::u64, "u64", NumberKind::unsigned_integer, 8, 64, 0, DType::u64}};

// Calls `visit` with a std::type_identity of the C++ type in which memory holds an element. Each converts to
// double exactly, integers of 64 bits beyond 2^53 apart, and from it by `element_of`.
template <class Visit>
decltype(auto) visit_storage(DType dtype, const Visit& visit) {
  switch (dtype) {
    case DType::boolean:
    case DType::u8: return visit(std::type_identity<uint8_t>());
    case DType::i8: return visit(std::type_identity<int8_t>());
    case DType::i16: return visit(std::type_identity<int16_t>());
    case DType::u16: return visit(std::type_identity<uint16_t>());
    case DType::i32: return visit(std::type_identity<int32_t>());
    case DType::u32: return visit(std::type_identity<uint32_t>());
    case DType::i64: return visit(std::type_identity<int64_t>());
    case DType::u64: return visit(std::type_identity<uint64_t>());
    case DType::f16: return visit(std::type_identity<Float16>());
    case DType::bf16: return visit(std::type_identity<BFloat16>());
    case DType::f32: return visit(std::type_identity<float>());
    case DType::f64: break;
  }
  return visit(std::type_identity<double>());
}

// A number as an element of such a C++ type: of integers the nearest towards zero, and 0 for what is no
// number.
template <class T>
T element_of(double value) {
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (std::isnan(value)) return 0;
    if (value <= static_cast<double>(Limits::min())) return Limits::min();
    if (value >= static_cast<double>(Limits::max())) return Limits::max();
  }
  return static_cast<T>(value);
}

// What is read back where the value was stored as an element of the type, which has numbers near it.
inline double as_stored(DType dtype, double value) {
  return visit_storage(dtype, [&]<class T>(std::type_identity<T>) -> double { return element_of<T>(value); });
}

struct Type {
  DType dtype = DType::f32;
  int lanes = 1;

  auto operator<=>(const Type&) const = default;
};

constexpr const DTypeInfo& info_of(DType dtype) { return kDTypes[static_cast<size_t>(dtype)]; }
constexpr int64_t bytes_of(DType dtype) { return info_of(dtype).bytes; }
constexpr bool is_float(DType dtype) { return info_of(dtype).kind == NumberKind::floating; }
constexpr bool is_unsigned(DType dtype) { return info_of(dtype).kind == NumberKind::unsigned_integer; }
// Integers of either sign; no boolean.
constexpr bool is_integer(DType dtype) {
  return info_of(dtype).kind == NumberKind::signed_integer || is_unsigned(dtype);
}
// Those that become i64 beside an index, and that a literal takes.
constexpr bool is_narrow_integer(DType dtype) { return is_integer(dtype) && dtype != DType::i64; }
// Integers beyond 2^53, which a double may not hold.
constexpr bool is_wide_integer(DType dtype) { return is_integer(dtype) && info_of(dtype).digits > 53; }
// Whether nothing is computed in it.
constexpr bool is_storage_only(DType dtype) { return info_of(dtype).computed_in != dtype; }
// Whether each number of `narrow` is one of `wide`; of booleans only they themselves are.
constexpr bool holds_numbers_of(DType wide, DType narrow) {
  const DTypeInfo& a = info_of(wide);
  const DTypeInfo& b = info_of(narrow);
  if (wide == narrow) return true;
  if (a.kind == NumberKind::boolean || b.kind == NumberKind::boolean || a.digits < b.digits) return false;
  if (is_float(narrow)) return is_float(wide) && a.exponent >= b.exponent;
  return is_float(wide) || a.kind == b.kind || is_unsigned(narrow);
}
// The distance from 1 to the next float: twice what rounding to the type is off at most, as a share.
double epsilon_of(DType dtype);
// The largest finite float, and the least that is not subnormal.
double largest_of(DType dtype);
double smallest_normal_of(DType dtype);

// "f32", "i8", "bool" ...
const char* to_string(DType dtype);
// "f32" or "f32x16".
std::string to_string(Type type);
Result<DType> parse_dtype(std::string_view text);

}  // namespace lathe
