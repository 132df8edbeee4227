#include "codegen/c_like/functions.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace lathe::c_like {
namespace {

constexpr const char* kFunctions = R"(#ifdef FP_FAST_FMAF
static inline float lathe_fma_f32(float a, float b, float c) { return fmaf(a, b, c); }
#else
static inline float lathe_fma_f32(float a, float b, float c) { return a * b + c; }
#endif
#ifdef FP_FAST_FMA
static inline double lathe_fma_f64(double a, double b, double c) { return fma(a, b, c); }
#else
static inline double lathe_fma_f64(double a, double b, double c) { return a * b + c; }
#endif
static inline float lathe_sqrt_f32(float a) { return sqrtf(a); }
static inline double lathe_sqrt_f64(double a) { return sqrt(a); }
static inline float lathe_abs_f32(float a) { return fabsf(a); }
static inline double lathe_abs_f64(double a) { return fabs(a); }
/* The library's floor is a call where the compiler does not make it an instruction. */
static inline float lathe_floor_f32(float a) {
  if (!(a > -8388608.0f && a < 8388608.0f)) return a;
  const float whole = (float)(int32_t)a;
  return copysignf(whole > a ? whole - 1.0f : whole, a);
}
static inline double lathe_floor_f64(double a) {
  if (!(a > -4503599627370496.0 && a < 4503599627370496.0)) return a;
  const double whole = (double)(int64_t)a;
  return copysign(whole > a ? whole - 1.0 : whole, a);
}
#define LATHE_ROUNDINGS(suffix, type, integer, copy_sign, limit)                                    \
  static inline type lathe_copy_sign_##suffix(type a, type b) { return copy_sign(a, b); }           \
  static inline type lathe_ceil_##suffix(type a) { return -lathe_floor_##suffix(-a); }              \
  static inline type lathe_truncate_##suffix(type a) {                                              \
    return a > -limit && a < limit ? copy_sign((type)(integer)a, a) : a;                            \
  }                                                                                                 \
  static inline type lathe_round_##suffix(type a) {                                                 \
    const type shift = copy_sign(limit, a);                                                         \
    return a > -limit && a < limit ? copy_sign((a + shift) - shift, a) : a;                         \
  }
LATHE_ROUNDINGS(f32, float, int32_t, copysignf, 8388608.0f)
LATHE_ROUNDINGS(f64, double, int64_t, copysign, 4503599627370496.0)

/* 2^a of a whole a; the exponent and the fraction in [1, 2) of a normal a > 0. */
#define LATHE_FLOAT_PARTS(suffix, type, bits_type, fraction_bits, bias)                     \
  static inline type lathe_pow2_##suffix(type a) {                                          \
    const bits_type bits = (bits_type)((a == a ? (int32_t)a : 0) + bias) << fraction_bits;  \
    type result;                                                                            \
    memcpy(&result, &bits, sizeof result);                                                  \
    return result;                                                                          \
  }                                                                                         \
  static inline type lathe_exponent_##suffix(type a) {                                      \
    bits_type bits;                                                                         \
    memcpy(&bits, &a, sizeof bits);                                                         \
    return (type)((int32_t)((bits >> fraction_bits) & (2 * bias + 1)) - bias);              \
  }                                                                                         \
  static inline type lathe_mantissa_##suffix(type a) {                                      \
    bits_type bits;                                                                         \
    type result;                                                                            \
    memcpy(&bits, &a, sizeof bits);                                                         \
    bits = (bits & (((bits_type)1 << fraction_bits) - 1)) | ((bits_type)bias << fraction_bits); \
    memcpy(&result, &bits, sizeof result);                                                  \
    return result;                                                                          \
  }
LATHE_FLOAT_PARTS(f32, float, uint32_t, 23, 127)
LATHE_FLOAT_PARTS(f64, double, uint64_t, 52, 1023)

/* NaN where either is. */
#define LATHE_IS_NAN(a) ((a) != (a))
#define LATHE_IS_NO_NAN(a) 0
#define LATHE_EXTREMA(suffix, type, is_nan)                                                       \
  static inline type lathe_min_##suffix(type a, type b) { return a < b || is_nan(a) ? a : b; }    \
  static inline type lathe_max_##suffix(type a, type b) { return a > b || is_nan(a) ? a : b; }
LATHE_EXTREMA(f32, float, LATHE_IS_NAN)
LATHE_EXTREMA(f64, double, LATHE_IS_NAN)

/* Floats to integers: towards zero, to the nearest that there is, NaN to 0. All lie below `beyond`. */
#define LATHE_SATURATED(from, from_type, to, to_type, least, most, beyond)             \
  static inline to_type lathe_##to##_of_##from(from_type a) {                          \
    if (!(a > (from_type)least)) return LATHE_IS_NAN(a) ? 0 : least;                   \
    return a < (from_type)beyond ? (to_type)a : most;                                  \
  }

/* Integers wrap around; division rounds down, and by 0 gives 0. */
#define LATHE_INTEGERS(suffix, type, wide)                                                      \
  static inline type lathe_add_##suffix(type a, type b) { return (type)((wide)a + (wide)b); }   \
  static inline type lathe_sub_##suffix(type a, type b) { return (type)((wide)a - (wide)b); }   \
  static inline type lathe_mul_##suffix(type a, type b) { return (type)((wide)a * (wide)b); }   \
  static inline type lathe_neg_##suffix(type a) { return (type)(0 - (wide)a); }
#define LATHE_SIGNED(suffix, type)                                                              \
  static inline type lathe_abs_##suffix(type a) { return a < 0 ? lathe_neg_##suffix(a) : a; }   \
  static inline type lathe_div_##suffix(type a, type b) {                                       \
    if (b == 0) return 0;                                                                       \
    if (b == -1) return lathe_neg_##suffix(a);                                                  \
    return (type)(a / b - (a % b != 0 && (a % b < 0) != (b < 0)));                              \
  }                                                                                             \
  static inline type lathe_mod_##suffix(type a, type b) {                                       \
    return lathe_sub_##suffix(a, lathe_mul_##suffix(lathe_div_##suffix(a, b), b));              \
  }
#define LATHE_UNSIGNED(suffix, type)                                                            \
  static inline type lathe_abs_##suffix(type a) { return a; }                                   \
  static inline type lathe_div_##suffix(type a, type b) { return b == 0 ? 0 : (type)(a / b); }  \
  static inline type lathe_mod_##suffix(type a, type b) { return b == 0 ? a : (type)(a % b); }
)";

// Bits shifted out are lost; by its width or more nothing is left of a number but a sign.
constexpr const char* kShifts = R"(
#define LATHE_SIGNED_SHIFTS(suffix, type, wide, bits)                                           \
  static inline type lathe_shift_left_##suffix(type a, type b) {                                \
    return (wide)b < bits ? (type)((wide)a << b) : 0;                                           \
  }                                                                                             \
  static inline type lathe_shift_right_##suffix(type a, type b) {                               \
    return (type)(a >> ((wide)b < bits ? b : bits - 1));                                        \
  }
#define LATHE_UNSIGNED_SHIFTS(suffix, type, wide, bits)                                         \
  static inline type lathe_shift_left_##suffix(type a, type b) {                                \
    return b < bits ? (type)((wide)a << b) : 0;                                                 \
  }                                                                                             \
  static inline type lathe_shift_right_##suffix(type a, type b) {                               \
    return b < bits ? (type)(a >> b) : 0;                                                       \
  }
)";

constexpr const char* kBits = R"(
#define LATHE_BITS(to, to_type, from, from_type)                                                \
  static inline to_type lathe_bits_##to##_of_##from(from_type a) {                              \
    to_type result;                                                                             \
    memcpy(&result, &a, sizeof result);                                                         \
    return result;                                                                              \
  }
LATHE_BITS(u32, uint32_t, f32, float)
LATHE_BITS(f32, float, u32, uint32_t)
LATHE_BITS(u64, uint64_t, f64, double)
LATHE_BITS(f64, double, u64, uint64_t)
)";

// Bits with fewer digits of the fraction than f32's, and IEEE 754's format of 16 bits.
constexpr const char* kShortened = R"(
static inline float lathe_f32_of_{0}(uint16_t a) {{
  const uint32_t bits = (uint32_t)a << 16;
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}}
static inline uint16_t lathe_{0}_of_f32(float a) {{
  uint32_t bits;
  memcpy(&bits, &a, sizeof bits);
  if (LATHE_IS_NAN(a)) return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}}
)";
constexpr const char* kHalf = R"(
static inline float lathe_f32_of_{0}(uint16_t a) {{
  const uint32_t rest = a & 0x7fff;
  const uint32_t bits = (rest << 13) + (rest >= 0x7c00 ? 0x70000000 : 0x38000000);
  float result;
  memcpy(&result, &bits, sizeof result);
  if (rest < 0x400) result = (float)rest * 0x1p-24f;
  return a & 0x8000 ? -result : result;
}}
static inline uint16_t lathe_{0}_of_f32(float a) {{
  const float magnitude = fabsf(a);
  const float shifted = magnitude + 0.5f; /* below 2^-14: so many steps of 2^-24 above 0.5 */
  uint32_t bits, steps;
  memcpy(&bits, &magnitude, sizeof bits);
  memcpy(&steps, &shifted, sizeof steps);
  const uint16_t sign = signbit(a) ? 0x8000 : 0;
  if (LATHE_IS_NAN(a)) return sign | 0x7e00;
  if (magnitude >= 65520.0f) return sign | 0x7c00;
  if (magnitude < 0x1p-14f) return (uint16_t)(sign | (steps - 0x3f000000));
  return (uint16_t)(sign | ((bits + 0xfff + (bits >> 13 & 1) - 0x38000000) >> 13));
}}
)";

bool calls(std::string_view program, const std::string& function) {
  return program.find(function) != std::string_view::npos;
}

std::string integer_functions(const DTypeInfo& info) {
  const char* type = type_name(info.dtype);
  const std::string limits(type, std::string_view(type).size() - 2);  // "int8" of "int8_t"
  std::string ends;
  for (const char c : limits) ends += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  const std::string least = is_unsigned(info.dtype) ? "0" : ends + "_MIN";
  std::string text = fmt::format("LATHE_EXTREMA({}, {}, LATHE_IS_NO_NAN)\n", info.name, type);
  for (const auto& [from, from_type] : {std::pair("f32", "float"), std::pair("f64", "double")})
    text += fmt::format("LATHE_SATURATED({}, {}, {}, {}, {}, {}_MAX, 0x1p{}f)\n", from, from_type, info.name,
                        type, least, ends, info.digits);
  text +=
      fmt::format("LATHE_INTEGERS({}, {}, {})\n", info.name, type, info.bytes < 8 ? "uint32_t" : "uint64_t");
  return text +
         fmt::format("LATHE_{}({}, {})\n", is_unsigned(info.dtype) ? "UNSIGNED" : "SIGNED", info.name, type);
}

std::string shifts(const DTypeInfo& info) {
  return fmt::format("LATHE_{}_SHIFTS({}, {}, {}, {})\n", is_unsigned(info.dtype) ? "UNSIGNED" : "SIGNED",
                     info.name, type_name(info.dtype), info.bytes < 8 ? "uint32_t" : "uint64_t",
                     8 * info.bytes);
}

const char* value_type(DType dtype) { return dtype == DType::boolean ? "int" : type_name(dtype); }

// Exact: hexadecimal digits.
std::string float_literal(DType dtype, double value) {
  if (is_storage_only(dtype))
    return fmt::format("lathe_{}_of_f32({})", to_string(dtype), float_literal(DType::f32, value));
  const char* suffix = dtype == DType::f32 ? "f" : "";
  if (dtype == DType::f32) value = static_cast<float>(value);
  if (std::isnan(value)) return dtype == DType::f32 ? "NAN" : "(double)NAN";
  if (std::isinf(value)) return fmt::format("{}({})INFINITY", value < 0 ? "-" : "", value_type(dtype));
  const bool is_short = value == std::trunc(value) && std::fabs(value) < 1e6;
  const std::string text =
      is_short ? fmt::format("{:.1f}{}", value, suffix) : fmt::format("{:a}{}", value, suffix);
  return std::signbit(value) ? "(" + text + ")" : text;
}

}  // namespace

const char* type_name(DType dtype) {
  constexpr std::array<std::array<const char*, 2>, 4> kIntegers = {
      {{"int8_t", "uint8_t"}, {"int16_t", "uint16_t"}, {"int32_t", "uint32_t"}, {"int64_t", "uint64_t"}}};
  const DTypeInfo& info = info_of(dtype);
  if (is_float(dtype) && !is_storage_only(dtype)) return info.bytes == 4 ? "float" : "double";
  const auto size = static_cast<size_t>(std::countr_zero(static_cast<unsigned>(info.bytes)));
  return kIntegers[size][info.kind == NumberKind::signed_integer ? 0 : 1];
}

std::string functions_of(std::string_view program) {
  std::string text = kFunctions;
  if (calls(program, "lathe_shift_")) text += kShifts;
  if (calls(program, "lathe_bits_")) text += kBits;
  for (const DTypeInfo& info : kDTypes) {
    const std::string name = info.name;
    if (is_integer(info.dtype) &&
        (calls(program, "_" + name + "(") || calls(program, "lathe_" + name + "_of_")))
      text += integer_functions(info);
    if (is_integer(info.dtype) && (calls(program, "lathe_shift_left_" + name + "(") ||
                                   calls(program, "lathe_shift_right_" + name + "(")))
      text += shifts(info);
    if (is_storage_only(info.dtype) &&
        (calls(program, "_of_" + name + "(") || calls(program, "lathe_" + name + "_of_")))
      text +=
          fmt::format(fmt::runtime(info.exponent == info_of(DType::f32).exponent ? kShortened : kHalf), name);
  }
  return text;
}

const Dialect kC99{value_type, type_name, float_literal, "LATHE_PREFETCH"};

}  // namespace lathe::c_like
