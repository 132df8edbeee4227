#include "codegen/c/preamble.h"

namespace lathe::c_backend {

const char* const kPreamble = R"(#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef LATHE_KERNEL_ABI_H
typedef void (*LatheTask)(void* context, int64_t begin, int64_t end, int32_t thread);
typedef struct LatheParallel {
  void (*run)(const struct LatheParallel* pool, LatheTask task, void* context, int64_t count);
  int32_t threads;
  void* state;
} LatheParallel;
#endif

#ifdef __GNUC__
#define LATHE_PREFETCH(address) __builtin_prefetch((address), 0, 2)
#else
#define LATHE_PREFETCH(address) ((void)(address))
#endif

#ifdef FP_FAST_FMAF
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
LATHE_EXTREMA(i8, int8_t, LATHE_IS_NO_NAN)
LATHE_EXTREMA(i32, int32_t, LATHE_IS_NO_NAN)
LATHE_EXTREMA(i64, int64_t, LATHE_IS_NO_NAN)

/* Floats to integers: towards zero, to the nearest that there is, NaN to 0. `least` is a power of two. */
#define LATHE_SATURATED(from, from_type, to, to_type, least, most)                     \
  static inline to_type lathe_##to##_of_##from(from_type a) {                          \
    if (!(a > (from_type)least)) return LATHE_IS_NAN(a) ? 0 : least;                            \
    return a < -(from_type)least ? (to_type)a : most;                                  \
  }
#define LATHE_SATURATED_FROM(from, from_type)                            \
  LATHE_SATURATED(from, from_type, i8, int8_t, INT8_MIN, INT8_MAX)       \
  LATHE_SATURATED(from, from_type, i32, int32_t, INT32_MIN, INT32_MAX)   \
  LATHE_SATURATED(from, from_type, i64, int64_t, INT64_MIN, INT64_MAX)
LATHE_SATURATED_FROM(f32, float)
LATHE_SATURATED_FROM(f64, double)

/* Integers wrap around; division rounds down, and by 0 gives 0. */
#define LATHE_INTEGERS(suffix, type, unsigned_type)                                                    \
  static inline type lathe_add_##suffix(type a, type b) { return (type)((unsigned_type)a + (unsigned_type)b); } \
  static inline type lathe_sub_##suffix(type a, type b) { return (type)((unsigned_type)a - (unsigned_type)b); } \
  static inline type lathe_mul_##suffix(type a, type b) { return (type)((unsigned_type)a * (unsigned_type)b); } \
  static inline type lathe_neg_##suffix(type a) { return (type)(0 - (unsigned_type)a); }               \
  static inline type lathe_abs_##suffix(type a) { return a < 0 ? lathe_neg_##suffix(a) : a; }          \
  static inline type lathe_div_##suffix(type a, type b) {                                              \
    if (b == 0) return 0;                                                                              \
    if (b == -1) return lathe_neg_##suffix(a);                                                         \
    return (type)(a / b - (a % b != 0 && (a % b < 0) != (b < 0)));                                     \
  }                                                                                                    \
  static inline type lathe_mod_##suffix(type a, type b) {                                              \
    return lathe_sub_##suffix(a, lathe_mul_##suffix(lathe_div_##suffix(a, b), b));                     \
  }
LATHE_INTEGERS(i8, int8_t, uint8_t)
LATHE_INTEGERS(i32, int32_t, uint32_t)
LATHE_INTEGERS(i64, int64_t, uint64_t)
)";

}  // namespace lathe::c_backend
