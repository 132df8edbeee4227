// The meaning of the operators on single values, before rounding to the result's type.
#pragma once

#include <cmath>
#include <cstdint>

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
    case BinaryOp::logical_or: break;
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

}  // namespace lathe::interpreter
