// The meaning of the operators on single values, before rounding to the result's type.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "expr/dag.h"
#include "expr/values.h"

namespace lathe::interpreter {

inline double apply(UnaryOp op, double x) {
  switch (op) {
    case UnaryOp::negate: return -x;
    case UnaryOp::exp: return std::exp(x);
    case UnaryOp::log: return std::log(x);
    case UnaryOp::sqrt: return std::sqrt(x);
    case UnaryOp::tanh: return std::tanh(x);
    case UnaryOp::erf: return std::erf(x);
    case UnaryOp::abs: return std::fabs(x);
    case UnaryOp::floor: return std::floor(x);
    case UnaryOp::logical_not: return x == 0 ? 1 : 0;
    case UnaryOp::pow2: return std::exp2(x);
    case UnaryOp::exponent: return std::logb(x);
    case UnaryOp::mantissa: return std::fabs(x) / std::exp2(std::logb(x));
    case UnaryOp::sin: return std::sin(x);
    case UnaryOp::cos: return std::cos(x);
    case UnaryOp::ceil: return std::ceil(x);
    case UnaryOp::round: return std::nearbyint(x);
    case UnaryOp::truncate: return std::trunc(x);
  }
  return x;
}

// The arithmetic operators on floats.
inline double apply(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::add: return a + b;
    case BinaryOp::sub: return a - b;
    case BinaryOp::mul: return a * b;
    case BinaryOp::div: return a / b;
    case BinaryOp::mod: return std::fmod(a, b);
    case BinaryOp::min: return minimum(a, b);
    case BinaryOp::max: return maximum(a, b);
    case BinaryOp::pow: return std::pow(a, b);
    case BinaryOp::copy_sign: return std::copysign(a, b);
    case BinaryOp::less:
    case BinaryOp::less_equal:
    case BinaryOp::equal:
    case BinaryOp::not_equal:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor:
    case BinaryOp::shift_left:
    case BinaryOp::shift_right: break;
  }
  return 0;
}

// Comparisons and logical operators.
template <class T>
bool holds(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::less: return a < b;
    case BinaryOp::less_equal: return a <= b;
    case BinaryOp::equal: return a == b;
    case BinaryOp::not_equal: return a != b;
    case BinaryOp::logical_and: return a != 0 && b != 0;
    case BinaryOp::logical_or: return a != 0 || b != 0;
    default: return false;
  }
}

// Whether the result is a truth value.
inline bool is_condition(BinaryOp op) { return op >= BinaryOp::less && op <= BinaryOp::logical_or; }

inline double apply(Reduction reduction, double a, double b) {
  switch (reduction) {
    case Reduction::none: return b;
    case Reduction::sum: return a + b;
    case Reduction::max: return maximum(a, b);
    case Reduction::min: return minimum(a, b);
    case Reduction::product: return a * b;
  }
  return b;
}

// 64-bit arithmetic that wraps around.
inline int64_t wrapping(BinaryOp op, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a);
  const auto y = static_cast<uint64_t>(b);
  switch (op) {
    case BinaryOp::add: return static_cast<int64_t>(x + y);
    case BinaryOp::sub: return static_cast<int64_t>(x - y);
    default: return static_cast<int64_t>(x * y);
  }
}

// Rounding down, 0 where b is; nothing is special about the least integer divided by -1: it wraps.
inline int64_t floor_quotient(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return wrapping(BinaryOp::sub, 0, a);
  return a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
}
inline int64_t floor_remainder(int64_t a, int64_t b) {
  return wrapping(BinaryOp::sub, a, wrapping(BinaryOp::mul, floor_quotient(a, b), b));
}

// Integers as `wrap_to` keeps them, in an order that is theirs for u64 too.
inline int64_t ordered(DType dtype, int64_t kept) { return is_unsigned(dtype) ? kept ^ INT64_MIN : kept; }

// Division of what u64 keeps, by 0 as above.
inline int64_t unsigned_division(BinaryOp op, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a);
  const auto y = static_cast<uint64_t>(b);
  if (op == BinaryOp::div) return y == 0 ? 0 : static_cast<int64_t>(x / y);
  return y == 0 ? a : static_cast<int64_t>(x % y);
}

// A shift of what the type keeps; by its width or more as shifts one by one.
inline int64_t shifted(DType dtype, BinaryOp op, int64_t a, int64_t b) {
  const auto width = static_cast<uint64_t>(8 * bytes_of(dtype));
  const bool empties = static_cast<uint64_t>(b) >= width;
  const auto bits = static_cast<uint64_t>(a);
  if (op == BinaryOp::shift_left) return empties ? 0 : wrap_to(dtype, static_cast<int64_t>(bits << b));
  if (is_unsigned(dtype)) return empties ? 0 : static_cast<int64_t>(bits >> b);
  return a >> (empties ? width - 1 : static_cast<uint64_t>(b));
}

// The operators on integers of a type but comparisons, of what it keeps; 0 for those of floats.
inline int64_t apply_to_integers(DType dtype, BinaryOp op, int64_t a, int64_t b) {
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul: return wrap_to(dtype, wrapping(op, a, b));
    case BinaryOp::div:
    case BinaryOp::mod:
      if (is_unsigned(dtype)) return unsigned_division(op, a, b);
      return wrap_to(dtype, op == BinaryOp::div ? floor_quotient(a, b) : floor_remainder(a, b));
    case BinaryOp::min: return ordered(dtype, a) < ordered(dtype, b) ? a : b;
    case BinaryOp::max: return ordered(dtype, a) > ordered(dtype, b) ? a : b;
    case BinaryOp::bit_and: return a & b;
    case BinaryOp::bit_or: return a | b;
    case BinaryOp::bit_xor: return a ^ b;
    case BinaryOp::shift_left:
    case BinaryOp::shift_right: return shifted(dtype, op, a, b);
    default: return 0;
  }
}

// The bits of an element of one type as one of another with as many. Numbers are given and kept as doubles,
// integers as `wrap_to` keeps them.
struct Bits {
  double number = 0;    // of a float type
  int64_t integer = 0;  // of an integer type
};
inline Bits bits_as(DType from, DType to, const Bits& value) {
  std::array<std::byte, sizeof(int64_t)> bytes = {};
  visit_storage(from, [&]<class T>(std::type_identity<T>) {
    const T element = is_float(from) ? element_of<T>(value.number) : static_cast<T>(value.integer);
    std::memcpy(bytes.data(), &element, sizeof(T));
  });
  return visit_storage(to, [&]<class T>(std::type_identity<T>) {
    T element;
    std::memcpy(&element, bytes.data(), sizeof(T));
    if (is_float(to)) return Bits{static_cast<double>(element), 0};
    return Bits{0, static_cast<int64_t>(element)};
  });
}

}  // namespace lathe::interpreter
