#include "expr/expr.h"

#include <cmath>
#include <functional>
#include <numeric>

#include "base/check.h"
#include "expr/integers.h"
#include "expr/magnitude.h"
#include "expr/values.h"

namespace lathe {
namespace {

constexpr Type kIndexType{DType::i64, 1};

bool is_comparison(BinaryOp op) {
  return op == BinaryOp::less || op == BinaryOp::less_equal || op == BinaryOp::equal ||
         op == BinaryOp::not_equal;
}

bool is_index(const Expr& e) { return e.as<Index>() != nullptr; }

// An integer literal takes the type of what stands beside it, and a float the float's.
Expr coerce(const Expr& e, Type type) {
  const Index* index = e.as<Index>();
  const bool takes_integers = is_float(type.dtype) || is_narrow_integer(type.dtype);
  if (index != nullptr && takes_integers && index->value.is_constant()) {
    const int64_t number = index->value.constant();
    return is_float(type.dtype) ? literal(type, static_cast<double>(number)) : integer_literal(type, number);
  }
  const Literal* value = e.as<Literal>();
  if (value != nullptr && is_float(e.type().dtype) && is_float(type.dtype))
    return literal(type, value->value);
  return e;
}

// A number beside a vector stands for as many lanes: before it is widened, which makes a cast of a half
// float's.
bool spreads(const Expr& e, int lanes) {
  return e.type().lanes == 1 && lanes > 1 && e.as<Literal>() != nullptr && is_float(e.type().dtype);
}
Expr spread(const Expr& e, int lanes) { return literal({e.type().dtype, lanes}, e.as<Literal>()->value); }

// Sums beyond this might leave 64 bits: there values wrap around, which indices never do.
constexpr double kLargestSum = 0x1p62;

// +, -, *, /, % of integer forms that stay affine; undefined where the result is not.
Expr affine_binary(BinaryOp op, const Affine& a, const Affine& b) {
  const double left = magnitude(a);
  const double right = magnitude(b);
  if ((op == BinaryOp::mul ? left * right : left + right) > kLargestSum) return {};
  switch (op) {
    case BinaryOp::add: return Expr(a + b);
    case BinaryOp::sub: return Expr(a - b);
    case BinaryOp::mul:
      if (b.is_constant()) return Expr(a * b.constant());
      if (a.is_constant()) return Expr(b * a.constant());
      return {};
    case BinaryOp::div:
      return b.is_constant() && b.constant() > 0 ? Expr(floor_div(a, b.constant())) : Expr();
    case BinaryOp::mod: return b.is_constant() && b.constant() > 0 ? Expr(modulo(a, b.constant())) : Expr();
    default: return {};
  }
}

// The integer that stands for a number: the infinities that reductions start from are the type's ends.
int64_t integer_for(DType dtype, double value) {
  if (std::isinf(value)) return value < 0 ? integers_of(dtype).lo : largest_kept(dtype);
  return cut_to(dtype, value);
}

}  // namespace

Tensor::Tensor(std::string name, std::vector<int64_t> shape, DType dtype)
    : node_(std::make_shared<const TensorNode>(TensorNode{std::move(name), dtype, std::move(shape), {}})) {}

Tensor Tensor::literal(std::string name, std::vector<int64_t> shape, std::vector<double> values) {
  Tensor tensor;
  tensor.node_ = std::make_shared<const TensorNode>(
      TensorNode{std::move(name), DType::f32, std::move(shape), std::move(values)});
  LATHE_CHECK(static_cast<int64_t>(tensor->literal.size()) == tensor.elements());
  return tensor;
}

int64_t Tensor::elements() const {
  return std::accumulate(node_->shape.begin(), node_->shape.end(), int64_t{1}, std::multiplies<>());
}

Expr::Expr(ExprNode node) : node_(std::make_shared<const ExprNode>(std::move(node))) {}
Expr::Expr(double value) : Expr(ExprNode{{DType::f32, 1}, Literal{value, 0}}) {}
Expr::Expr(int64_t value) : Expr(Affine(value)) {}
Expr::Expr(const Var& var) : Expr(Affine(var)) {}
Expr::Expr(const Affine& value) : Expr(ExprNode{kIndexType, Index{value}}) {}

Type Expr::type() const { return node_->type; }

Expr literal(Type type, double value) {
  if (is_storage_only(type.dtype)) value = as_stored(type.dtype, value);
  if (is_float(type.dtype)) return Expr(ExprNode{type, Literal{value, 0}});
  return integer_literal(type, integer_for(type.dtype, value));
}

Expr integer_literal(Type type, int64_t value) {
  const int64_t kept = wrap_to(type.dtype, value);
  return type == kIndexType ? Expr(kept) : Expr(ExprNode{type, Literal{0, kept}});
}

Expr load(const Tensor& tensor, std::vector<Affine> index) {
  return Expr(ExprNode{{tensor->dtype, 1}, Load{tensor, std::move(index), 0, {}}});
}

Expr unary(UnaryOp op, const Expr& operand) {
  if (const Index* index = operand.as<Index>(); index != nullptr && op == UnaryOp::negate) {
    return Expr(index->value * -1);
  }
  const Expr value = widened(operand);
  return Expr(ExprNode{value.type(), Unary{op, value}});
}

Expr binary(BinaryOp op, const Expr& narrow_left, const Expr& narrow_right) {
  const int left_lanes = narrow_left.type().lanes;
  const int right_lanes = narrow_right.type().lanes;
  if (spreads(narrow_left, right_lanes)) return binary(op, spread(narrow_left, right_lanes), narrow_right);
  if (spreads(narrow_right, left_lanes)) return binary(op, narrow_left, spread(narrow_right, left_lanes));
  const Expr left = widened(narrow_left);
  const Expr right = widened(narrow_right);
  if (is_index(left) && is_index(right)) {
    const Expr affine = affine_binary(op, left.as<Index>()->value, right.as<Index>()->value);
    if (affine.defined()) return affine;
  }
  const Expr a = coerce(left, right.type());
  const Expr b = coerce(right, a.type());
  // A narrower integer in index arithmetic widens to i64.
  if (is_narrow_integer(a.type().dtype) && b.type().dtype == DType::i64) {
    return binary(op, cast({DType::i64, a.type().lanes}, a), b);
  }
  if (a.type().dtype == DType::i64 && is_narrow_integer(b.type().dtype)) {
    return binary(op, a, cast({DType::i64, b.type().lanes}, b));
  }
  LATHE_CHECK(a.type() == b.type());
  const Type type = is_comparison(op) ? Type{DType::boolean, a.type().lanes} : a.type();
  return Expr(ExprNode{type, Binary{op, a, b}});
}

Expr select(const Expr& condition, const Expr& if_true, const Expr& if_false) {
  Expr a = coerce(if_true, if_false.type());
  Expr b = coerce(if_false, a.type());
  if (a.type() != b.type()) {
    a = widened(a);
    b = widened(b);
  }
  LATHE_CHECK(a.type() == b.type() && condition.type().dtype == DType::boolean);
  return Expr(ExprNode{a.type(), Select{condition, a, b}});
}

Expr cast(Type type, const Expr& operand) {
  if (operand.type() == type) return operand;
  // f64(inf) is the text of a literal, and reads back as what it is printed of.
  const Literal* number = operand.as<Literal>();
  if (number != nullptr && is_float(type.dtype) && is_float(operand.type().dtype) &&
      !std::isfinite(number->value))
    return literal(type, number->value);
  // A constant of index arithmetic is a literal of the type, as its text is read.
  const Index* index = operand.as<Index>();
  if (index != nullptr && index->value.is_constant() && type.dtype != DType::boolean)
    return literal(type, static_cast<double>(index->value.constant()));
  // To and from a type that nothing is computed in the one way leads through that which is.
  const DType through = is_storage_only(type.dtype) ? type.dtype : operand.type().dtype;
  const Type computed{info_of(through).computed_in, type.lanes};
  if (is_storage_only(through) && type != computed && operand.type() != computed)
    return cast(type, cast(computed, operand));
  return Expr(ExprNode{type, Cast{operand}});
}

Expr bit_cast(Type type, const Expr& operand) {
  const Type from = operand.type();
  if (from == type) return operand;
  LATHE_CHECK(bytes_of(from.dtype) == bytes_of(type.dtype) && from.lanes == type.lanes);
  LATHE_CHECK(from.dtype != DType::boolean && type.dtype != DType::boolean);
  return Expr(ExprNode{type, BitCast{operand}});
}

Expr widened(const Expr& e) { return cast({info_of(e.type().dtype).computed_in, e.type().lanes}, e); }

Expr broadcast(const Expr& operand, int lanes) {
  return Expr(ExprNode{{operand.type().dtype, lanes}, Broadcast{operand}});
}

Expr call(std::string intrinsic, std::vector<Expr> operands) {
  const Type type = operands.front().type();
  return Expr(ExprNode{type, Call{std::move(intrinsic), std::move(operands)}});
}

Affine to_affine(const Expr& e) {
  if (const Index* index = e.as<Index>()) return index->value;
  if (const Literal* value = e.as<Literal>()) return value->integer;
  if (const Binary* binary = e.as<Binary>(); binary != nullptr && e.type() == kIndexType) {
    const Expr affine = affine_binary(binary->op, to_affine(binary->a), to_affine(binary->b));
    if (affine.defined()) return affine.as<Index>()->value;
  }
  if (const Unary* unary = e.as<Unary>();
      unary != nullptr && unary->op == UnaryOp::negate && e.type() == kIndexType) {
    return to_affine(unary->operand) * -1;
  }
  return opaque(e.type().dtype == DType::i64 ? e : cast(kIndexType, e));
}

}  // namespace lathe
