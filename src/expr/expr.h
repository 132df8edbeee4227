// Scalar expressions: what one element of a compute is. Immutable trees, shared by copying.
//
// Semantics. Integers are 64-bit in index arithmetic, which never overflows, and of their own type in values,
// which wrap around; integer division rounds down, and by 0 gives 0 with the dividend as its remainder.
// Floating-point sums keep the order in which they are written; only schedule steps reorder a reduction.
// `min` and `max` give NaN where either operand is NaN. A cast of a float to an integer cuts towards zero and
// saturates, NaN gives 0; integers wrap around (docs/numerics.md). Operations on bits are of integers; a
// shift by the width or more, or by less than 0, leaves what shifting one by one comes to. A comparison gives
// `bool`. `select` evaluates only the side it takes, so a load on the other side may be out of bounds. Every
// integer expression built from variables, constants, +, -, * constant, / and % by positive constants is kept
// as an `Affine` (node `Index`); what is not affine, such as a load, stays a tree.
//
// Grammar (lanes > 1 only after the pass `vectorize_loops`, Call only after `tensorize_loops`):
//   expr ::= Literal | Index(affine) | Load(tensor, affine*) | Unary(op, e) | Binary(op, e, e)
//          | Select(c, a, b) | Cast(type, e) | Broadcast(e, lanes) | Ramp(affine, stride, lanes)
//          | Call(intrinsic, e*) | BitCast(type, e)
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "expr/affine.h"
#include "expr/tensor.h"
#include "expr/type.h"

namespace lathe {

// `round` goes to the nearest whole number, halves to the even one; `truncate` towards zero. From
// `expand_math` only: `pow2`, 2^x for a whole x in [-126, 127] (f64: [-1022, 1023]); `exponent`, floor(log2
// |x|) as a float, and `mantissa`, |x| / 2^exponent in [1, 2), both for a normal x. Their order is part of a
// task's hash.
enum class UnaryOp : uint8_t {
  negate,
  exp,
  log,
  sqrt,
  tanh,
  erf,
  abs,
  floor,
  logical_not,
  pow2,
  exponent,
  mantissa,
  sin,
  cos,
  ceil,
  round,
  truncate
};
// `copy_sign` is |a| with the sign of b; to the right signed integers are shifted with their sign. Their
// order is part of a task's hash.
enum class BinaryOp : uint8_t {
  add,
  sub,
  mul,
  div,
  mod,
  min,
  max,
  pow,
  less,
  less_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  copy_sign,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right
};
// Of the bits of integers; not of truths.
constexpr bool is_bitwise(BinaryOp op) { return op >= BinaryOp::bit_and && op <= BinaryOp::shift_right; }

struct ExprNode;

class Expr {
 public:
  Expr() = default;
  Expr(double value);                                      // NOLINT: f32 literal
  Expr(float value) : Expr(static_cast<double>(value)) {}  // NOLINT
  Expr(int value) : Expr(static_cast<int64_t>(value)) {}   // NOLINT
  Expr(int64_t value);                                     // NOLINT: i64 index literal
  Expr(const Var& var);                                    // NOLINT
  Expr(const Affine& value);                               // NOLINT
  explicit Expr(ExprNode node);

  const ExprNode* operator->() const { return node_.get(); }
  const ExprNode& operator*() const { return *node_; }
  const ExprNode* get() const { return node_.get(); }
  bool defined() const { return node_ != nullptr; }
  Type type() const;
  // The node if it is a T, else null.
  template <class T>
  const T* as() const;

 private:
  std::shared_ptr<const ExprNode> node_;
};

struct Literal {
  double value = 0;     // of a float type
  int64_t integer = 0;  // of bool and integer types, as `wrap_to` keeps it
};
// An integer value: i64 (loop variables and what is computed from them).
struct Index {
  Affine value;
};
struct Load {
  Tensor tensor;
  std::vector<Affine> index;  // one a dimension; a single offset after `flatten_buffers`
  int64_t stride = 0;         // in elements between lanes of a vector load; 0 for a scalar load
  Expr mask;                  // vector load: lanes to read (bool x lanes), the others give 0; undefined: all
};
struct Unary {
  UnaryOp op;
  Expr operand;
};
struct Binary {
  BinaryOp op;
  Expr a;
  Expr b;
};
struct Select {
  Expr condition;
  Expr if_true;
  Expr if_false;
};
struct Cast {
  Expr operand;
};
struct Broadcast {
  Expr operand;
};
// base, base + stride, ...: an i64 vector.
struct Ramp {
  Affine base;
  int64_t stride = 1;
};

// What the intrinsic of that name (src/intrinsics) computes of an accumulator, whose type is the result's,
// and its factors.
struct Call {
  std::string intrinsic;
  std::vector<Expr> operands;
};

// The operand's bits as those of another type of as many.
struct BitCast {
  Expr operand;
};

// The order of the alternatives is part of a task's hash.
struct ExprNode {
  Type type;
  std::variant<Literal, Index, Load, Unary, Binary, Select, Cast, Broadcast, Ramp, Call, BitCast> node;
};

template <class T>
const T* Expr::as() const {
  return std::get_if<T>(&node_->node);
}

// Construction. Operand types must agree (an integer literal beside another type takes it); mixed types are
// our own bug, since the parsers check them. Operands of a type that nothing is computed in are widened.
Expr literal(Type type, double value);
// Of an integer type, or bool; it wraps around.
Expr integer_literal(Type type, int64_t value);
Expr load(const Tensor& tensor, std::vector<Affine> index);
Expr unary(UnaryOp op, const Expr& operand);
Expr binary(BinaryOp op, const Expr& a, const Expr& b);
Expr select(const Expr& condition, const Expr& if_true, const Expr& if_false);
Expr cast(Type type, const Expr& operand);
// Of a type of as many bytes, neither of them bool.
Expr bit_cast(Type type, const Expr& operand);
// As it is computed with: itself, or cast to its type's `computed_in`.
Expr widened(const Expr& e);
Expr broadcast(const Expr& operand, int lanes);
Expr call(std::string intrinsic, std::vector<Expr> operands);

inline Expr operator+(const Expr& a, const Expr& b) { return binary(BinaryOp::add, a, b); }
inline Expr operator-(const Expr& a, const Expr& b) { return binary(BinaryOp::sub, a, b); }
inline Expr operator*(const Expr& a, const Expr& b) { return binary(BinaryOp::mul, a, b); }
inline Expr operator/(const Expr& a, const Expr& b) { return binary(BinaryOp::div, a, b); }
inline Expr operator%(const Expr& a, const Expr& b) { return binary(BinaryOp::mod, a, b); }
inline Expr operator<(const Expr& a, const Expr& b) { return binary(BinaryOp::less, a, b); }
inline Expr operator<=(const Expr& a, const Expr& b) { return binary(BinaryOp::less_equal, a, b); }
inline Expr operator>(const Expr& a, const Expr& b) { return binary(BinaryOp::less, b, a); }
inline Expr operator>=(const Expr& a, const Expr& b) { return binary(BinaryOp::less_equal, b, a); }
inline Expr operator==(const Expr& a, const Expr& b) { return binary(BinaryOp::equal, a, b); }
inline Expr operator!=(const Expr& a, const Expr& b) { return binary(BinaryOp::not_equal, a, b); }
inline Expr operator&&(const Expr& a, const Expr& b) { return binary(BinaryOp::logical_and, a, b); }
inline Expr operator||(const Expr& a, const Expr& b) { return binary(BinaryOp::logical_or, a, b); }
inline Expr operator-(const Expr& a) { return unary(UnaryOp::negate, a); }
inline Expr min(const Expr& a, const Expr& b) { return binary(BinaryOp::min, a, b); }
inline Expr max(const Expr& a, const Expr& b) { return binary(BinaryOp::max, a, b); }
inline Expr exp(const Expr& a) { return unary(UnaryOp::exp, a); }
inline Expr log(const Expr& a) { return unary(UnaryOp::log, a); }
inline Expr sqrt(const Expr& a) { return unary(UnaryOp::sqrt, a); }
inline Expr tanh(const Expr& a) { return unary(UnaryOp::tanh, a); }
inline Expr erf(const Expr& a) { return unary(UnaryOp::erf, a); }
inline Expr abs(const Expr& a) { return unary(UnaryOp::abs, a); }
inline Expr sin(const Expr& a) { return unary(UnaryOp::sin, a); }
inline Expr cos(const Expr& a) { return unary(UnaryOp::cos, a); }
inline Expr floor(const Expr& a) { return unary(UnaryOp::floor, a); }
inline Expr ceil(const Expr& a) { return unary(UnaryOp::ceil, a); }
inline Expr round(const Expr& a) { return unary(UnaryOp::round, a); }
inline Expr truncate(const Expr& a) { return unary(UnaryOp::truncate, a); }
inline Expr copy_sign(const Expr& a, const Expr& b) { return binary(BinaryOp::copy_sign, a, b); }

// The affine form of an integer expression; an opaque atom where it has none.
Affine to_affine(const Expr& e);

// Structural equality (tensors and variables by identity).
bool equal(const Expr& a, const Expr& b);

template <class... Indices>
Expr Tensor::operator()(const Indices&... index) const {
  return load(*this, {to_affine(Expr(index))...});
}

}  // namespace lathe
