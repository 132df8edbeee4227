// The signs and functions of the text of expressions. Internal to the parser.
#pragma once

#include <array>
#include <cstddef>

#include "expr/expr.h"

namespace lathe {

struct InfixSign {
  size_t level;  // 0 binds loosest
  const char* sign;
  BinaryOp op;
  bool swapped = false;  // a > b is b < a
};
// Within a level a sign stands before every other that begins with it.
inline constexpr std::array kOperators = {
    InfixSign{0, "||", BinaryOp::logical_or}, InfixSign{1, "&&", BinaryOp::logical_and},
    InfixSign{2, "<=", BinaryOp::less_equal}, InfixSign{2, ">=", BinaryOp::less_equal, true},
    InfixSign{2, "==", BinaryOp::equal},      InfixSign{2, "!=", BinaryOp::not_equal},
    InfixSign{2, "<", BinaryOp::less},        InfixSign{2, ">", BinaryOp::less, true},
    InfixSign{3, "+", BinaryOp::add},         InfixSign{3, "-", BinaryOp::sub},
    InfixSign{4, "*", BinaryOp::mul},         InfixSign{4, "/", BinaryOp::div},
    InfixSign{4, "%", BinaryOp::mod},
};
inline constexpr size_t kComparisonLevel = 2;
inline constexpr size_t kTightestLevel = kOperators.back().level;

inline constexpr std::array kUnaryFunctions = {
    UnaryOp::exp,   UnaryOp::log,      UnaryOp::sqrt, UnaryOp::tanh,     UnaryOp::erf,
    UnaryOp::sin,   UnaryOp::cos,      UnaryOp::abs,  UnaryOp::floor,    UnaryOp::ceil,
    UnaryOp::round, UnaryOp::truncate, UnaryOp::pow2, UnaryOp::exponent, UnaryOp::mantissa};

inline constexpr std::array kBinaryFunctions = {
    BinaryOp::min,    BinaryOp::max,     BinaryOp::pow,        BinaryOp::copy_sign,  BinaryOp::bit_and,
    BinaryOp::bit_or, BinaryOp::bit_xor, BinaryOp::shift_left, BinaryOp::shift_right};

}  // namespace lathe
