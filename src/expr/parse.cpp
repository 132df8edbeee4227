#include "expr/parse.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "expr/integers.h"
#include "expr/magnitude.h"
#include "expr/print.h"
#include "expr/syntax.h"

namespace lathe {
namespace {

// Bounds on text from outside: recursion and tree depth stay small, index arithmetic stays within 64 bits.
constexpr int kMaxDepth = 200;
constexpr int kMaxOperators = 2000;
constexpr double kMaxIndex = 4503599627370496.0;  // 2^52
constexpr int64_t kMaxLanes = 1024;
constexpr int64_t kMaxStride = int64_t{1} << 31;

bool is_logical(BinaryOp op) { return op == BinaryOp::logical_and || op == BinaryOp::logical_or; }
bool is_constant_index(const Expr& e) {
  return e.as<Index>() != nullptr && e.as<Index>()->value.is_constant();
}

// Whether `binary` and `select` find one type for both.
bool types_agree(const Expr& a, const Expr& b) {
  const DType x = info_of(a.type().dtype).computed_in;
  const DType y = info_of(b.type().dtype).computed_in;
  const auto coerces = [](const Expr& e, DType to) {
    if (e.as<Literal>() != nullptr) return is_float(e.type().dtype) && is_float(to);
    return is_constant_index(e) && (is_float(to) || is_integer(to));
  };
  return x == y || coerces(a, y) || coerces(b, x);
}

// Whether `binary` takes it for an i64 beside the other: so it does a narrower one, which to_affine widens as
// well.
bool is_index_number(const Expr& e, const Expr& beside) {
  if (e.type().dtype == DType::i64) return !is_narrow_integer(beside.type().dtype) || !is_constant_index(e);
  return is_narrow_integer(e.type().dtype) && beside.type().dtype == DType::i64 && !is_constant_index(beside);
}

// Whether `binary` and `select` find one number of lanes for both: a scalar literal beside a vector spreads.
bool lanes_agree(const Expr& a, const Expr& b) {
  const auto spreads = [](const Expr& e, const Expr& beside) {
    const bool number = e.as<Literal>() != nullptr || is_constant_index(e);
    return number && e.type().lanes == 1 && is_float(beside.type().dtype) && beside.as<Literal>() == nullptr;
  };
  return a.type().lanes == b.type().lanes || spreads(a, b) || spreads(b, a);
}

class ExprParser {
 public:
  ExprParser(TextCursor& cursor, const ExprNames& names) : cursor_(cursor), names_(names) {}

  Result<Expr> expression() { return level(0); }

 private:
  Result<Expr> level(size_t n) {
    if (n > kTightestLevel) return prefix();
    LATHE_TRY(Expr left, level(n + 1));
    while (const InfixSign* found = next_operator(n)) {
      if (++operators_ > kMaxOperators) {
        return cursor_.error(fmt::format("an expression has at most {} operators", kMaxOperators));
      }
      LATHE_TRY(Expr right, level(n + 1));
      LATHE_TRY(left, found->swapped ? combine(found->op, right, left) : combine(found->op, left, right));
      if (n == kComparisonLevel) break;
    }
    return left;
  }

  const InfixSign* next_operator(size_t n) {
    for (const InfixSign& candidate : kOperators) {
      if (candidate.level == n && cursor_.accept(candidate.sign)) return &candidate;
    }
    return nullptr;
  }

  Result<Expr> combine(BinaryOp op, const Expr& a, const Expr& b) {
    LATHE_TRY_STATUS(check_types(op, a, b));
    LATHE_TRY_STATUS(check_index_range(op, a, b));
    return binary(op, a, b);
  }

  Status check_types(BinaryOp op, const Expr& a, const Expr& b) const {
    const bool widens_to_index = is_integer(a.type().dtype) && is_integer(b.type().dtype) &&
                                 (a.type().dtype == DType::i64 || b.type().dtype == DType::i64);
    if (!types_agree(a, b) && !widens_to_index) {
      return cursor_.error(fmt::format("'{}' and '{}' differ in type ({} and {}): cast one", to_string(a),
                                       to_string(b), to_string(a.type()), to_string(b.type())));
    }
    LATHE_TRY_STATUS(check_lanes(a, b));
    const DType type = is_constant_index(a) ? b.type().dtype : a.type().dtype;
    const bool comparison = op == BinaryOp::equal || op == BinaryOp::not_equal;
    if (is_logical(op) != (type == DType::boolean) && !comparison) {
      return cursor_.error(fmt::format("'{}' is {}, but {} is needed here", to_string(a), to_string(a.type()),
                                       is_logical(op) ? "a condition" : "a number"));
    }
    if ((op == BinaryOp::pow || op == BinaryOp::copy_sign) && !is_float(type))
      return cursor_.error(fmt::format("{} needs floating-point operands", to_string(op)));
    if (is_bitwise(op) && is_float(type))
      return cursor_.error(fmt::format("{} needs integer operands", to_string(op)));
    return {};
  }

  Status check_lanes(const Expr& a, const Expr& b) const {
    if (lanes_agree(a, b)) return {};
    return cursor_.error(fmt::format("'{}' and '{}' differ in their lanes ({} and {})", to_string(a),
                                     to_string(b), a.type().lanes, b.type().lanes));
  }

  // Here rather than by `verify`, which comes after the shapes have been read off the indices.
  Status check_divisor(BinaryOp op, const Expr& divisor) const {
    if (indices_ == 0 || (op != BinaryOp::div && op != BinaryOp::mod) || is_float(divisor.type().dtype))
      return {};
    const Affine value = to_affine(divisor);
    if (value.is_constant() && value.constant() >= 0) return {};  // 0 has a sentence of its own
    return cursor_.error(
        fmt::format("integers are divided by positive constants only, not by '{}'", to_string(divisor)));
  }

  // An integer literal takes a narrower type that stands beside it.
  Status check_literal(const Expr& e, DType beside) const {
    if (!is_constant_index(e) || !is_narrow_integer(beside)) return {};
    const int64_t value = e.as<Index>()->value.constant();
    const Interval range = integers_of(beside);
    if (range.lo <= value && value <= range.hi) return {};
    return cursor_.error(fmt::format("{} is no {}", value, to_string(beside)));
  }

  Status check_index_range(BinaryOp op, const Expr& a, const Expr& b) const {
    LATHE_TRY_STATUS(check_literal(a, b.type().dtype));
    LATHE_TRY_STATUS(check_literal(b, a.type().dtype));
    LATHE_TRY_STATUS(check_divisor(op, b));
    if (!is_index_number(a, b) || !is_index_number(b, a)) return {};
    if ((op == BinaryOp::div || op == BinaryOp::mod) && to_affine(b).is(0)) {
      return cursor_.error(fmt::format("'{}' is divided by zero", to_string(a)));
    }
    const bool is_value = a.as<Index>() == nullptr || b.as<Index>() == nullptr;
    if (is_value && indices_ == 0) return {};  // it wraps around
    const double left = magnitude(to_affine(a), names_.ranges);
    const double right = magnitude(to_affine(b), names_.ranges);
    if ((op == BinaryOp::mul ? left * right : left + right) <= kMaxIndex) return {};
    return cursor_.error(fmt::format("an index may not grow beyond {:.0f}", kMaxIndex));
  }

  Result<Expr> prefix() {
    if (++depth_ > kMaxDepth) {
      return cursor_.error(fmt::format("an expression is nested at most {} deep", kMaxDepth));
    }
    Result<Expr> result = prefix_here();
    --depth_;
    return result;
  }

  Result<Expr> prefix_here() {
    if (cursor_.accept("!")) {
      LATHE_TRY(const Expr operand, prefix());
      if (operand.type().dtype != DType::boolean) {
        return cursor_.error(fmt::format("! needs a condition, not '{}'", to_string(operand)));
      }
      return unary(UnaryOp::logical_not, operand);
    }
    if (at_number() || at_signed_number()) return number();
    if (cursor_.accept("-")) {
      LATHE_TRY(const Expr operand, prefix());
      if (operand.type().dtype == DType::boolean)
        return cursor_.error("a condition cannot be negated: use !");
      return unary(UnaryOp::negate, operand);
    }
    return primary();
  }

  bool at_number() {
    const char c = cursor_.peek();
    return (c >= '0' && c <= '9') || c == '.';
  }
  bool at_signed_number() {
    const size_t here = cursor_.position();
    const bool found = cursor_.accept("-") && (at_number() || cursor_.accept_word("inf"));
    cursor_.rewind(here);
    return found;
  }

  // An integer that no fraction or exponent follows is an index, all else is f32.
  Result<Expr> number() {
    const size_t begin = cursor_.position();
    LATHE_TRY(const double value, cursor_.number());
    const size_t end = cursor_.position();
    cursor_.rewind(begin);
    const Result<int64_t> integer = cursor_.integer();
    if (integer && cursor_.position() == end) {
      if (std::abs(static_cast<double>(*integer)) <= kMaxIndex) return Expr(*integer);
      return cursor_.error(fmt::format("a whole number may not go beyond {:.0f}", kMaxIndex));
    }
    cursor_.rewind(end);
    return Expr(value);
  }

  Result<Expr> primary() {
    if (cursor_.accept("(")) {
      LATHE_TRY(Expr inner, level(0));
      LATHE_TRY_STATUS(cursor_.expect(")"));
      return inner;
    }
    const size_t begin = cursor_.position();
    if (!cursor_.at_identifier()) return cursor_.error("expected a value");
    LATHE_TRY(const std::string name, cursor_.identifier());
    if (cursor_.accept("[")) return load_of(name);
    if (cursor_.accept("(")) return call(name);
    if (Expr variable = names_.variable(name); variable.defined()) return variable;
    if (name == "true" || name == "false") return literal({DType::boolean, 1}, name == "true" ? 1 : 0);
    if (name == "inf") return Expr(std::numeric_limits<double>::infinity());
    if (name == "nan") return Expr(std::numeric_limits<double>::quiet_NaN());
    cursor_.rewind(begin);
    return cursor_.error(fmt::format("'{}' is no axis of this compute", name));
  }

  Result<Expr> load_of(const std::string& name) {
    Load access;
    while (cursor_.peek() != ']' && !at_lanes()) {
      if (!access.index.empty()) LATHE_TRY_STATUS(cursor_.expect_comma("]"));
      LATHE_TRY(const Affine value, integer_value());
      access.index.push_back(value);
    }
    LATHE_TRY(const int lanes, lanes_of(access));
    LATHE_TRY_STATUS(cursor_.expect("]"));
    access.tensor = names_.tensor(name, access.index.size(), indices_ > 0);
    if (!access.tensor.defined()) return cursor_.error(fmt::format("there is no tensor '{}'", name));
    const size_t rank = names_.flat ? 1 : access.tensor->shape.size();
    if (rank != access.index.size()) {
      return cursor_.error(fmt::format("'{}' has {} dimension{}, not {}", name, rank,
                                       names_.flat ? " once it is flat"
                                       : rank == 1 ? ""
                                                   : "s",
                                       access.index.size()));
    }
    return Expr(ExprNode{{access.tensor->dtype, lanes}, std::move(access)});
  }

  // "; 8 by 1 if mask", or a part of it.
  bool at_lanes() {
    if (!names_.flat) return false;
    if (cursor_.peek() == ';') return true;
    const size_t here = cursor_.position();
    const bool found = cursor_.accept_word("if");
    cursor_.rewind(here);
    return found;
  }
  Result<int> lanes_of(Load& access) {
    int lanes = 1;
    if (names_.flat && cursor_.accept(";")) {
      LATHE_TRY(lanes, lane_count(2));
      LATHE_TRY_STATUS(cursor_.expect("by"));
      LATHE_TRY(access.stride, bounded(-kMaxStride, kMaxStride, "a stride"));
    }
    if (!names_.flat || !cursor_.accept_word("if")) return lanes;
    LATHE_TRY(access.mask, level(0));
    if (access.mask.type() == Type{DType::boolean, lanes}) return lanes;
    return cursor_.error(fmt::format("the mask is {}, not {}", to_string(access.mask.type()),
                                     to_string(Type{DType::boolean, lanes})));
  }
  Result<int64_t> bounded(int64_t lo, int64_t hi, const char* what) {
    LATHE_TRY(const int64_t value, cursor_.integer());
    if (value >= lo && value <= hi) return value;
    return cursor_.error(fmt::format("{} is {} to {}, not {}", what, lo, hi, value));
  }
  Result<int> lane_count(int64_t least) {
    LATHE_TRY(const int64_t lanes, bounded(least, kMaxLanes, "a number of lanes"));
    return static_cast<int>(lanes);
  }

 public:
  Result<Affine> integer_value() {
    ++indices_;
    LATHE_TRY(const Expr value, level(0));
    --indices_;
    if (!is_integer(value.type().dtype) || value.type().lanes != 1) {
      return cursor_.error(
          fmt::format("'{}' is {}, but an index is an integer", to_string(value), to_string(value.type())));
    }
    Affine index = to_affine(value);
    if (magnitude(index, names_.ranges) <= kMaxIndex) return index;
    return cursor_.error(fmt::format("an index may not grow beyond {:.0f}", kMaxIndex));
  }

 private:
  Result<Expr> call(const std::string& name) {
    const size_t begin = cursor_.position();
    if (const Result<DType> type = parse_dtype(name)) return cast_to(*type);
    if (name == "bit_cast") return call_bit_cast();
    if (names_.flat) {
      if (name == "broadcast") return call_broadcast();
      if (name == "ramp") return call_ramp();
      if (name == "call") return call_intrinsic();
      if (const size_t split = name.find('x'); split != std::string::npos) {
        if (const Result<DType> type = parse_dtype(name.substr(0, split))) return vector_literal(name, *type);
      }
    }
    if (at_axis()) {
      return cursor_.error(fmt::format(
          "'{}' of an axis is a reduction, which stands once, at the beginning of a compute", name));
    }
    std::vector<Expr> arguments;
    while (!cursor_.accept(")")) {
      if (!arguments.empty()) LATHE_TRY_STATUS(cursor_.expect_comma(")"));
      LATHE_TRY(const Expr argument, level(0));
      arguments.push_back(argument);
    }
    const auto takes = [&](size_t count) -> Status {
      if (arguments.size() == count) return {};
      return cursor_.error(
          fmt::format("{} takes {} operand{}, not {}", name, count, count == 1 ? "" : "s", arguments.size()));
    };
    for (const UnaryOp op : kUnaryFunctions) {
      if (name != to_string(op)) continue;
      LATHE_TRY_STATUS(takes(1));
      return call_unary(op, arguments[0]);
    }
    for (const BinaryOp op : kBinaryFunctions) {
      if (name != to_string(op)) continue;
      LATHE_TRY_STATUS(takes(2));
      return combine(op, arguments[0], arguments[1]);
    }
    if (name == "select") {
      LATHE_TRY_STATUS(takes(3));
      return call_select(arguments);
    }
    cursor_.rewind(begin);
    return cursor_.error(fmt::format("there is no function '{}'", name));
  }

  // "r:3", as in a reduction.
  bool at_axis() {
    const size_t here = cursor_.position();
    const bool found = cursor_.identifier() && cursor_.peek() == ':';
    cursor_.rewind(here);
    return found;
  }

  // A whole number of the type up to the bracket, of 64 bits, which indices do not have: u64's beyond 2^63
  // are written as what they wrap around to.
  std::optional<int64_t> whole_number(DType dtype) {
    if (!is_integer(dtype) || dtype == DType::i64) return std::nullopt;
    const size_t here = cursor_.position();
    const Result<int64_t> value = cursor_.integer();
    if (value && cursor_.accept(")")) return *value;
    cursor_.rewind(here);
    return std::nullopt;
  }

  // "bit_cast(u32, A[i])".
  Result<Expr> call_bit_cast() {
    LATHE_TRY(const std::string name, cursor_.identifier());
    LATHE_TRY(const DType dtype, parse_dtype(name));
    LATHE_TRY_STATUS(cursor_.expect(","));
    LATHE_TRY(const Expr operand, level(0));
    LATHE_TRY_STATUS(cursor_.expect(")"));
    const Type from = operand.type();
    const bool is_of_truths = from.dtype == DType::boolean || dtype == DType::boolean;
    if (bytes_of(from.dtype) == bytes_of(dtype) && !is_of_truths)
      return bit_cast({dtype, from.lanes}, operand);
    return cursor_.error(fmt::format("'{}' is {}, whose bits are no {}", to_string(operand),
                                     to_string(from.dtype), to_string(dtype)));
  }

  // "f64(0.1)" is a literal, and so is an index that comes to a number; any other operand is cast.
  Result<Expr> cast_to(DType dtype) {
    if (const auto number = whole_number(dtype)) return integer_literal({dtype, 1}, *number);
    const bool is_literal = at_number() || at_signed_number();
    LATHE_TRY(const Expr operand, level(0));
    LATHE_TRY_STATUS(cursor_.expect(")"));
    if (is_literal && operand.as<Literal>() != nullptr) {
      if (is_float(dtype)) return literal({dtype, 1}, operand.as<Literal>()->value);
    }
    if (dtype != DType::boolean) return cast({dtype, operand.type().lanes}, operand);
    if (is_constant_index(operand))
      return literal({dtype, 1}, operand.as<Index>()->value.constant() != 0 ? 1 : 0);
    // A number becomes a condition by a comparison only.
    return operand.type().dtype == DType::boolean ? operand : operand != literal(operand.type(), 0);
  }

  Result<Expr> call_broadcast() {
    LATHE_TRY(const Expr operand, level(0));
    LATHE_TRY_STATUS(cursor_.expect(","));
    LATHE_TRY(const int lanes, lane_count(1));
    LATHE_TRY_STATUS(cursor_.expect(")"));
    if (operand.type().lanes == 1) return broadcast(operand, lanes);
    return cursor_.error(fmt::format("'{}' has lanes already", to_string(operand)));
  }

  Result<Expr> call_ramp() {
    LATHE_TRY(const Affine base, integer_value());
    LATHE_TRY_STATUS(cursor_.expect(","));
    LATHE_TRY(const int64_t stride, bounded(-kMaxStride, kMaxStride, "a stride"));
    LATHE_TRY_STATUS(cursor_.expect(","));
    LATHE_TRY(const int lanes, lane_count(1));
    LATHE_TRY_STATUS(cursor_.expect(")"));
    return Expr(ExprNode{{DType::i64, lanes}, Ramp{base, stride}});
  }

  Result<Expr> call_intrinsic() {
    LATHE_TRY(std::string name, cursor_.identifier());
    std::vector<Expr> operands;
    while (!cursor_.accept(")")) {
      LATHE_TRY_STATUS(cursor_.expect_comma(")"));
      LATHE_TRY(operands.emplace_back(), level(0));
    }
    if (operands.empty()) return cursor_.error(fmt::format("'{}' has no operands", name));
    return lathe::call(std::move(name), std::move(operands));
  }

  // "f32x8(0.5)": all lanes alike.
  Result<Expr> vector_literal(const std::string& name, DType dtype) {
    int64_t lanes = 0;
    for (const char c : std::string_view(name).substr(name.find('x') + 1)) {
      if (c < '0' || c > '9' || lanes > kMaxLanes) return cursor_.error(fmt::format("'{}' is no type", name));
      lanes = lanes * 10 + (c - '0');
    }
    if (lanes < 1 || lanes > kMaxLanes) return cursor_.error(fmt::format("'{}' is no type", name));
    const Type type{dtype, static_cast<int>(lanes)};
    if (const auto number = whole_number(dtype)) return integer_literal(type, *number);
    LATHE_TRY(const Expr operand, level(0));
    LATHE_TRY_STATUS(cursor_.expect(")"));
    if (const Literal* value = operand.as<Literal>(); value != nullptr && operand.type().lanes == 1) {
      if (is_float(operand.type().dtype) != is_float(dtype))
        return cursor_.error("the literal has another type");
      return literal(type, is_float(dtype) ? value->value : static_cast<double>(value->integer));
    }
    if (is_constant_index(operand)) {
      return literal(type, static_cast<double>(operand.as<Index>()->value.constant()));
    }
    return cursor_.error(fmt::format("'{}' is no literal", to_string(operand)));
  }

  Result<Expr> call_unary(UnaryOp op, const Expr& operand) const {
    const DType type = operand.type().dtype;
    if (is_float(type) || (op == UnaryOp::abs && type != DType::boolean)) return unary(op, operand);
    return cursor_.error(fmt::format("{} needs a floating-point operand, not '{}' ({})", to_string(op),
                                     to_string(operand), to_string(type)));
  }

  Result<Expr> call_select(const std::vector<Expr>& arguments) const {
    if (arguments[0].type().dtype != DType::boolean) {
      return cursor_.error(fmt::format("'{}' is no condition to select by", to_string(arguments[0])));
    }
    LATHE_TRY_STATUS(check_literal(arguments[1], arguments[2].type().dtype));
    LATHE_TRY_STATUS(check_literal(arguments[2], arguments[1].type().dtype));
    if (!types_agree(arguments[1], arguments[2])) {
      return cursor_.error(fmt::format("the sides of a select differ in type ({} and {}): cast one",
                                       to_string(arguments[1].type()), to_string(arguments[2].type())));
    }
    LATHE_TRY_STATUS(check_lanes(arguments[1], arguments[2]));
    const int lanes = arguments[0].type().lanes;
    if (lanes != 1) LATHE_TRY_STATUS(check_lanes(arguments[0], arguments[1]));
    return select(arguments[0], arguments[1], arguments[2]);
  }

  TextCursor& cursor_;
  const ExprNames& names_;
  int depth_ = 0;
  int operators_ = 0;
  int indices_ = 0;  // around what is read
};

}  // namespace

Result<Expr> parse_expr(TextCursor& cursor, const ExprNames& names) {
  return ExprParser(cursor, names).expression();
}

Result<Affine> parse_affine(TextCursor& cursor, const ExprNames& names) {
  return ExprParser(cursor, names).integer_value();
}

}  // namespace lathe
