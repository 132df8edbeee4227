#include "graph/operators/zip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "expr/integers.h"
#include "graph/onnx/node.h"

namespace lathe {
namespace {

bool is_comparison(ZipFunction function) {
  return function >= ZipFunction::equal && function <= ZipFunction::greater_equal;
}
bool is_logical(ZipFunction function) {
  return function >= ZipFunction::logical_and && function <= ZipFunction::logical_xor;
}
bool is_of_integers(ZipFunction function) { return function >= ZipFunction::bit_and; }

// Of comparisons and of logical functions.
bool holds(ZipFunction function, double x, double y) {
  switch (function) {
    case ZipFunction::equal: return x == y;
    case ZipFunction::less: return x < y;
    case ZipFunction::less_equal: return x <= y;
    case ZipFunction::greater: return x > y;
    case ZipFunction::greater_equal: return x >= y;
    case ZipFunction::logical_and: return x != 0 && y != 0;
    case ZipFunction::logical_or: return x != 0 || y != 0;
    default: return x != y;
  }
}

double floor_mod(double x, double y) {
  const double rest = std::fmod(x, y);
  if (rest == 0) return std::copysign(0.0, y);
  return (rest < 0) != (y < 0) ? rest + y : rest;
}

double real_value(ZipFunction function, double x, double y) {
  switch (function) {
    case ZipFunction::add: return x + y;
    case ZipFunction::sub: return x - y;
    case ZipFunction::mul: return x * y;
    case ZipFunction::div: return x / y;
    case ZipFunction::max: return maximum(x, y);
    case ZipFunction::min: return minimum(x, y);
    case ZipFunction::p_relu: return x < 0 ? x * y : x;
    case ZipFunction::mod: return floor_mod(x, y);
    case ZipFunction::remainder: return std::fmod(x, y);
    default: return holds(function, x, y) ? 1 : 0;
  }
}

int64_t floor_mod(int64_t x, int64_t y) {
  if (y == 0) return x;
  const int64_t rest = y == -1 ? 0 : x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

// Of shifts one by one nothing is left beyond the type's width, but for a sign to the right.
int64_t shifted(ZipFunction function, DType dtype, int64_t x, int64_t y) {
  const int64_t width = 8 * bytes_of(dtype);
  const bool empties = y < 0 || y >= width;
  if (function == ZipFunction::shift_left)
    return empties ? 0 : static_cast<int64_t>(static_cast<uint64_t>(x) << y);
  if (is_unsigned(dtype)) return empties ? 0 : static_cast<int64_t>(static_cast<uint64_t>(x) >> y);
  return x >> (empties ? width - 1 : y);
}

int64_t integer_value(ZipFunction function, DType dtype, int64_t x, int64_t y) {
  const auto wrapped = [](uint64_t value) { return static_cast<int64_t>(value); };
  const auto a = static_cast<uint64_t>(x);
  const auto b = static_cast<uint64_t>(y);
  switch (function) {
    case ZipFunction::add: return wrapped(a + b);
    case ZipFunction::sub: return wrapped(a - b);
    case ZipFunction::mul: return wrapped(a * b);
    case ZipFunction::div: return y == 0 ? 0 : y == -1 ? wrapped(0 - a) : x / y;
    case ZipFunction::max: return std::max(x, y);
    case ZipFunction::min: return std::min(x, y);
    case ZipFunction::p_relu: return x < 0 ? wrapped(a * b) : x;
    case ZipFunction::mod: return floor_mod(x, y);
    case ZipFunction::remainder: return y == 0 ? x : y == -1 ? 0 : x % y;
    case ZipFunction::bit_and: return x & y;
    case ZipFunction::bit_or: return x | y;
    case ZipFunction::bit_xor: return x ^ y;
    case ZipFunction::shift_left:
    case ZipFunction::shift_right: return shifted(function, dtype, x, y);
    default: return holds(function, static_cast<double>(x), static_cast<double>(y)) ? 1 : 0;
  }
}

double value_of(ZipFunction function, DType dtype, double x, double y) {
  if (is_float(dtype) || is_comparison(function) || is_logical(function)) return real_value(function, x, y);
  const int64_t value = integer_value(function, dtype, cut_to(dtype, x), cut_to(dtype, y));
  return number_kept(dtype, wrap_to(dtype, value));
}

// Integer division of expressions rounds down; where that is below zero and something is left, one more cuts
// off towards zero.
Expr quotient(const Expr& x, const Expr& y) {
  if (is_float(x.type().dtype)) return x / y;
  const Expr down = x / y;
  const Expr is_cut = down < literal(x.type(), 0) && down * y != x;
  return select(is_cut, down + literal(x.type(), 1), down);
}

Expr floor_mod(const Expr& x, const Expr& y) {
  if (!is_float(x.type().dtype)) return x % y;
  const Expr zero = literal(x.type(), 0);
  const Expr rest = x % y;
  const Expr moved = select((rest < zero) != (y < zero), rest + y, rest);
  return select(rest == zero, copy_sign(zero, y), moved);
}
Expr remainder(const Expr& x, const Expr& y) {
  return is_float(x.type().dtype) ? x % y : x - quotient(x, y) * y;
}

}  // namespace

const char* ZipOp::name() const {
  switch (function) {
    case ZipFunction::add: return "Add";
    case ZipFunction::sub: return "Sub";
    case ZipFunction::mul: return "Mul";
    case ZipFunction::div: return "Div";
    case ZipFunction::max: return "Max";
    case ZipFunction::min: return "Min";
    case ZipFunction::p_relu: return "PRelu";
    case ZipFunction::mod:
    case ZipFunction::remainder: return "Mod";
    case ZipFunction::equal: return "Equal";
    case ZipFunction::less: return "Less";
    case ZipFunction::less_equal: return "LessOrEqual";
    case ZipFunction::greater: return "Greater";
    case ZipFunction::greater_equal: return "GreaterOrEqual";
    case ZipFunction::logical_and: return "And";
    case ZipFunction::logical_or: return "Or";
    case ZipFunction::logical_xor: return "Xor";
    case ZipFunction::bit_and: return "BitwiseAnd";
    case ZipFunction::bit_or: return "BitwiseOr";
    case ZipFunction::bit_xor: return "BitwiseXor";
    case ZipFunction::shift_left:
    case ZipFunction::shift_right: return "BitShift";
  }
  return "";
}

std::string attributes_of(const ZipOp& op) {
  switch (op.function) {
    case ZipFunction::remainder: return "sign of the dividend";
    case ZipFunction::shift_left: return "left";
    case ZipFunction::shift_right: return "right";
    default: return "";
  }
}
std::string attributes_of(const WhereOp&) { return {}; }

Result<TensorType> infer(const ZipOp& op, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_one_type(inputs));
  const DType dtype = inputs[0].dtype;
  if (is_of_integers(op.function)) {
    LATHE_TRY_STATUS(require_type(inputs[0], 0, is_integer(dtype), "integers"));
  } else if (is_logical(op.function)) {
    LATHE_TRY_STATUS(require_type(inputs[0], 0, dtype == DType::boolean, "bool"));
  } else if (op.function != ZipFunction::equal || dtype != DType::boolean) {
    LATHE_TRY_STATUS(require_type(inputs[0], 0, is_number(dtype), "f32, f64 and integers"));
  }
  LATHE_TRY(Shape shape, broadcast_shapes(inputs[0].shape, inputs[1].shape));
  const bool is_condition = is_comparison(op.function) || is_logical(op.function);
  return TensorType{is_condition ? DType::boolean : dtype, std::move(shape)};
}

Result<TensorType> infer(const WhereOp&, std::span<const TensorType> inputs) {
  LATHE_TRY_STATUS(require_type(inputs[0], 0, inputs[0].dtype == DType::boolean, "bool"));
  LATHE_TRY_STATUS(require_one_type(inputs.subspan(1)));
  LATHE_TRY(const Shape choices, broadcast_shapes(inputs[1].shape, inputs[2].shape));
  LATHE_TRY(Shape shape, broadcast_shapes(inputs[0].shape, choices));
  return TensorType{inputs[1].dtype, std::move(shape)};
}

Values evaluate(const ZipOp& op, std::span<const Values> inputs) {
  Values result{*broadcast_shapes(inputs[0].shape, inputs[1].shape), {}};
  Shape at(result.shape.size(), 0);
  do {
    result.data.push_back(
        value_of(op.function, inputs[0].dtype, element_at(inputs[0], at), element_at(inputs[1], at)));
  } while (next_index(at, result.shape));
  return result;
}

Values evaluate(const WhereOp&, std::span<const Values> inputs) {
  const Shape choices = *broadcast_shapes(inputs[1].shape, inputs[2].shape);
  Values result{*broadcast_shapes(inputs[0].shape, choices), {}};
  Shape at(result.shape.size(), 0);
  do {
    result.data.push_back(element_at(inputs[element_at(inputs[0], at) != 0 ? 1 : 2], at));
  } while (next_index(at, result.shape));
  return result;
}

Expr lower(const ZipOp& op, const PointOperands& point) {
  Expr x = point.at(0);
  const Expr y = point.at(1);
  switch (op.function) {
    case ZipFunction::add: return x + y;
    case ZipFunction::sub: return x - y;
    case ZipFunction::mul: return x * y;
    case ZipFunction::div: return quotient(x, y);
    case ZipFunction::max: return max(x, y);
    case ZipFunction::min: return min(x, y);
    case ZipFunction::mod: return floor_mod(x, y);
    case ZipFunction::remainder: return remainder(x, y);
    case ZipFunction::p_relu: return select(x < literal(x.type(), 0), x * y, x);
    case ZipFunction::equal: return x == y;
    case ZipFunction::less: return x < y;
    case ZipFunction::less_equal: return x <= y;
    case ZipFunction::greater: return x > y;
    case ZipFunction::greater_equal: return x >= y;
    case ZipFunction::logical_and: return x && y;
    case ZipFunction::logical_or: return x || y;
    case ZipFunction::logical_xor: return x != y;
    case ZipFunction::bit_and: return binary(BinaryOp::bit_and, x, y);
    case ZipFunction::bit_or: return binary(BinaryOp::bit_or, x, y);
    case ZipFunction::bit_xor: return binary(BinaryOp::bit_xor, x, y);
    case ZipFunction::shift_left: return binary(BinaryOp::shift_left, x, y);
    case ZipFunction::shift_right: return binary(BinaryOp::shift_right, x, y);
  }
  return x;
}

Expr lower(const WhereOp&, const PointOperands& point) {
  return select(point.at(0), point.at(1), point.at(2));
}

Result<ZipOp> import_mod(OnnxNode& node) {
  return ZipOp{node.integer("fmod", 0) != 0 ? ZipFunction::remainder : ZipFunction::mod};
}

Result<ZipOp> import_bit_shift(OnnxNode& node) {
  const std::string direction = node.text("direction", "");
  if (direction == "LEFT") return ZipOp{ZipFunction::shift_left};
  if (direction == "RIGHT") return ZipOp{ZipFunction::shift_right};
  return fail(ErrorKind::invalid_argument,
              fmt::format("attribute 'direction' is '{}', and must be LEFT or RIGHT", direction));
}

Result<WhereOp> import_where(OnnxNode&) { return WhereOp{}; }

}  // namespace lathe
