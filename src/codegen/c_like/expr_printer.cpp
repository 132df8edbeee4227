#include "codegen/c_like/expr_printer.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "codegen/patterns.h"
#include "intrinsics/intrinsic.h"

namespace lathe::c_like {
namespace {

std::string integer_text(int64_t value) {
  if (value == INT64_MIN) return "(-9223372036854775807LL - 1)";
  return fmt::format("{}{}", value, value > INT32_MAX || value < INT32_MIN ? "LL" : "");
}

const char* function_of(UnaryOp op) {
  switch (op) {
    case UnaryOp::sqrt: return "sqrt";
    case UnaryOp::abs: return "abs";
    case UnaryOp::floor: return "floor";
    case UnaryOp::ceil: return "ceil";
    case UnaryOp::round: return "round";
    case UnaryOp::truncate: return "truncate";
    case UnaryOp::pow2: return "pow2";
    case UnaryOp::exponent: return "exponent";
    case UnaryOp::mantissa: return "mantissa";
    case UnaryOp::negate: return "neg";
    default: return nullptr;
  }
}

bool is_rounding(UnaryOp op) {
  return op == UnaryOp::floor || op == UnaryOp::ceil || op == UnaryOp::round || op == UnaryOp::truncate;
}

const char* operator_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::add: return "+";
    case BinaryOp::sub: return "-";
    case BinaryOp::mul: return "*";
    case BinaryOp::div: return "/";
    case BinaryOp::less: return "<";
    case BinaryOp::less_equal: return "<=";
    case BinaryOp::equal: return "==";
    case BinaryOp::not_equal: return "!=";
    case BinaryOp::bit_and: return "&";
    case BinaryOp::bit_or: return "|";
    case BinaryOp::bit_xor: return "^";
    default: return nullptr;
  }
}

const char* function_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::add: return "add";
    case BinaryOp::sub: return "sub";
    case BinaryOp::mul: return "mul";
    case BinaryOp::div: return "div";
    case BinaryOp::mod: return "mod";
    case BinaryOp::min: return "min";
    case BinaryOp::max: return "max";
    case BinaryOp::copy_sign: return "copy_sign";
    case BinaryOp::shift_left: return "shift_left";
    case BinaryOp::shift_right: return "shift_right";
    default: return nullptr;
  }
}

// A variable for it would only be longer.
bool is_trivial(const Expr& e) {
  if (const auto* splat = e.as<Broadcast>()) return is_trivial(splat->operand);
  if (const auto* index = e.as<Index>())
    return index->value.is_constant() || index->value.as_var().has_value();
  return e.as<Literal>() != nullptr;
}

bool is_literal(const Expr& e) {
  if (const auto* splat = e.as<Broadcast>()) return is_literal(splat->operand);
  return e.as<Literal>() != nullptr;
}

}  // namespace

void ExprPrinter::begin_statement(const std::vector<Expr>& expressions, std::string lane) {
  lane_ = std::move(lane);
  uses_.clear();
  scopes_.assign(1, {});
  for (const Expr& e : expressions) {
    if (e.defined()) count_uses(e);
  }
}

void ExprPrinter::count_uses(const Expr& e) {
  if (uses_[e.get()]++ > 0) return;
  struct Children {
    ExprPrinter& printer;
    void operator()(const Literal&) const {}
    void operator()(const Index&) const {}
    void operator()(const Ramp&) const {}
    void operator()(const Load& e) const {
      if (e.mask.defined()) printer.count_uses(e.mask);
    }
    void operator()(const Unary& e) const { printer.count_uses(e.operand); }
    void operator()(const Binary& e) const {
      printer.count_uses(e.a);
      printer.count_uses(e.b);
    }
    void operator()(const Select& e) const {
      printer.count_uses(e.condition);
      printer.count_uses(e.if_true);
      printer.count_uses(e.if_false);
    }
    void operator()(const Cast& e) const { printer.count_uses(e.operand); }
    void operator()(const BitCast& e) const { printer.count_uses(e.operand); }
    void operator()(const Broadcast& e) const { printer.count_uses(e.operand); }
    // Factors are printed once for each element of a group, and share nothing.
    void operator()(const Call& e) const { printer.count_uses(e.operands[0]); }
  };
  std::visit(Children{*this}, e->node);
}

std::string ExprPrinter::print(const Expr& e, Code& code) {
  for (const Scope& scope : scopes_) {
    const auto known = scope.find(e.get());
    if (known != scope.end()) return known->second;
  }
  std::string text = std::visit([&](const auto& node) { return visit(node, e, code); }, e->node);
  if (uses_[e.get()] <= 1 || is_trivial(e)) return text;
  return bind(text, e, code);
}

std::string ExprPrinter::bind(const std::string& value, const Expr& e, Code& code) {
  const std::string name = names_.fresh("t");
  code.line(fmt::format("const {} {} = {};", dialect_.value_type(e.type().dtype), name, value));
  scopes_.back().emplace(e.get(), name);
  return name;
}

std::string ExprPrinter::print(const Affine& a, Code& code) {
  std::string text;
  for (const Affine::Term& one : a.terms()) text += (text.empty() ? "" : " + ") + term(one, code);
  if (text.empty()) return integer_text(a.constant());
  if (a.constant() != 0) text += " + " + integer_text(a.constant());
  return a.terms().size() > 1 || a.constant() != 0 ? "(" + text + ")" : text;
}

std::string ExprPrinter::term(const Affine::Term& term, Code& code) {
  const std::string value = atom(*term.atom, code);
  return term.coefficient == 1 ? value : integer_text(term.coefficient) + " * " + value;
}

std::string ExprPrinter::atom(const AtomNode& atom, Code& code) {
  if (atom.kind == AtomKind::variable) return names_.of(&atom, atom.name);
  if (atom.kind == AtomKind::opaque) return "(int64_t)" + print(*atom.opaque, code);
  const bool quotient = atom.kind == AtomKind::floor_div;
  const std::string operand = print(atom.operand, code);
  const std::optional<Interval> range = bounds(atom.operand, ranges_);
  if (range && range->lo >= 0) return fmt::format("({} {} {})", operand, quotient ? "/" : "%", atom.divisor);
  return fmt::format("lathe_{}_i64({}, {})", quotient ? "div" : "mod", operand, atom.divisor);
}

std::string ExprPrinter::element(const Tensor& tensor, const Affine& offset, int64_t stride, Code& code) {
  std::string index = print(offset, code);
  if (!lane_.empty() && stride != 0) {
    index += stride == 1 ? " + " + lane_ : fmt::format(" + {} * {}", integer_text(stride), lane_);
  }
  return fmt::format("{}[{}]", names_.of(tensor.get(), tensor->name), index);
}

std::string ExprPrinter::visit(const Literal& e, const Expr& self, Code&) {
  const DType dtype = self.type().dtype;
  if (dtype == DType::u64) return fmt::format("{}u", static_cast<uint64_t>(e.integer));
  return is_float(dtype) ? dialect_.float_literal(dtype, e.value) : integer_text(e.integer);
}

std::string ExprPrinter::visit(const Index& e, const Expr&, Code& code) { return print(e.value, code); }

std::string ExprPrinter::visit(const Load& e, const Expr& self, Code& code) {
  if (!e.mask.defined()) return element(e.tensor, e.index[0], e.stride, code);
  const std::string mask = print(e.mask, code);
  return fmt::format("({} ? {} : ({})0)", mask, element(e.tensor, e.index[0], e.stride, code),
                     dialect_.value_type(self.type().dtype));
}

std::string ExprPrinter::visit(const Unary& e, const Expr& self, Code& code) {
  std::string operand = print(e.operand, code);
  const DType dtype = self.type().dtype;
  if (e.op == UnaryOp::logical_not) return "(!" + operand + ")";
  if (e.op == UnaryOp::negate && is_float(dtype)) return "(-" + operand + ")";
  if (is_rounding(e.op) && !is_float(dtype)) return operand;
  if (const char* library = library_function(e.op)) return fmt::format("{}({})", library, operand);
  const char* function = function_of(e.op);
  LATHE_CHECK(function != nullptr);
  return fmt::format("lathe_{}_{}({})", function, to_string(dtype), operand);
}

std::string ExprPrinter::visit(const Binary& e, const Expr& self, Code& code) {
  if (e.op == BinaryOp::logical_and) {
    const std::string a = print(e.a, code);
    return choose(a, e.b, literal(self.type(), 0), code);
  }
  if (e.op == BinaryOp::logical_or) {
    const std::string a = print(e.a, code);
    return choose(a, literal(self.type(), 1), e.b, code);
  }
  const char* type = to_string(e.a.type().dtype);
  if (const auto fused = match_multiply_add(self)) {
    const std::string a = print(fused->a, code);
    const std::string b = print(fused->b, code);
    const std::string c = print(fused->c, code);
    return fmt::format("lathe_fma_{}({}{}, {}, {}{})", type, fused->negate_product ? "-" : "", a, b,
                       fused->negate_addend ? "-" : "", c);
  }
  std::string a = print(e.a, code);
  std::string b = print(e.b, code);
  const bool extremum = e.op == BinaryOp::min || e.op == BinaryOp::max;
  if (extremum && is_literal(e.b)) std::swap(a, b);
  const bool has_sign = operator_of(e.op) != nullptr;
  const bool compares = self.type().dtype == DType::boolean;
  const bool infix = compares || (is_float(self.type().dtype) && has_sign);
  if (infix) return fmt::format("({} {} {})", a, operator_of(e.op), b);
  const char* library = is_float(self.type().dtype) ? library_function(e.op) : nullptr;
  if (library != nullptr) return fmt::format("{}({}, {})", library, a, b);
  if (is_bitwise(e.op) && has_sign)
    return fmt::format("(({})({} {} {}))", dialect_.value_type(self.type().dtype), a, operator_of(e.op), b);
  return fmt::format("lathe_{}_{}({}, {})", function_of(e.op), type, a, b);
}

std::string ExprPrinter::visit(const Select& e, const Expr&, Code& code) {
  const std::string condition = print(e.condition, code);
  return choose(condition, e.if_true, e.if_false, code);
}

// Only the side that is taken is evaluated: by ?: where the sides need no variables, else by if.
std::string ExprPrinter::choose(const std::string& condition, const Expr& if_true, const Expr& if_false,
                                Code& code) {
  const auto print_side = [&](const Expr& side, Code& lines) {
    scopes_.emplace_back();
    std::string text = print(side, lines);
    scopes_.pop_back();
    return text;
  };
  Code true_lines(code.depth() + 1);
  Code false_lines(code.depth() + 1);
  const std::string a = print_side(if_true, true_lines);
  const std::string b = print_side(if_false, false_lines);
  if (true_lines.empty() && false_lines.empty()) return fmt::format("({} ? {} : {})", condition, a, b);
  const std::string name = names_.fresh("t");
  code.line(fmt::format("{} {};", dialect_.value_type(if_true.type().dtype), name));
  code.open(fmt::format("if ({})", condition));
  code.append(true_lines.text());
  code.line(name + " = " + a + ";");
  code.close("} else {");
  code.append(false_lines.text());
  code.line("  " + name + " = " + b + ";");
  code.line("}");
  return name;
}

std::string ExprPrinter::visit(const Cast& e, const Expr& self, Code& code) {
  std::string operand = print(e.operand, code);
  if (self.type().dtype == e.operand.type().dtype) return operand;
  if (self.type().dtype == DType::boolean) return "(" + operand + " != 0)";
  const DType from = e.operand.type().dtype;
  const DType to = self.type().dtype;
  if ((is_float(from) && !is_float(to)) || is_storage_only(from) || is_storage_only(to))
    return fmt::format("lathe_{}_of_{}({})", to_string(to), to_string(from), operand);
  return fmt::format("(({}){})", dialect_.value_type(to), operand);
}

// Integers of one width have the same bits, and what nothing is computed in is an unsigned integer.
std::string ExprPrinter::visit(const BitCast& e, const Expr& self, Code& code) {
  const auto is_integer_in_c = [](DType dtype) { return !is_float(dtype) || is_storage_only(dtype); };
  const DType from = e.operand.type().dtype;
  const DType to = self.type().dtype;
  const char* bits = bytes_of(to) == bytes_of(DType::u32) ? "u32" : "u64";
  std::string text = print(e.operand, code);
  if (!is_integer_in_c(from)) text = fmt::format("lathe_bits_{}_of_{}({})", bits, to_string(from), text);
  if (is_integer_in_c(to)) return fmt::format("(({}){})", dialect_.value_type(to), text);
  return fmt::format("lathe_bits_{}_of_{}({})", to_string(to), bits, text);
}

std::string ExprPrinter::visit(const Broadcast& e, const Expr&, Code& code) { return print(e.operand, code); }

std::string ExprPrinter::visit(const Ramp& e, const Expr&, Code& code) {
  return fmt::format("({} + {} * {})", print(e.base, code), integer_text(e.stride), lane_);
}

std::string ExprPrinter::visit(const Call& e, const Expr& self, Code& code) {
  const Intrinsic* intrinsic = find_intrinsic(e.intrinsic);
  LATHE_CHECK(intrinsic != nullptr && e.operands.size() == 3);
  const DType result = self.type().dtype;
  const char* type = to_string(result);
  std::string sum = print(e.operands[0], code);
  for (int t = 0; t < intrinsic->group; ++t) {
    const std::string a = element_of_group(e.operands[1], result, intrinsic->group, t, code);
    const std::string b = element_of_group(e.operands[2], result, intrinsic->group, t, code);
    sum = is_float(result) ? fmt::format("lathe_fma_{}({}, {}, {})", type, a, b, sum)
                           : fmt::format("lathe_add_{0}({1}, lathe_mul_{0}({2}, {3}))", type, sum, a, b);
  }
  return sum;
}

std::string ExprPrinter::element_of_group(const Expr& factor, DType result, int group, int t, Code& code) {
  const bool is_shared = factor.type().lanes == group || lane_.empty();
  const std::string lane = is_shared ? fmt::format("{}", t) : fmt::format("({} * {} + {})", group, lane_, t);
  const std::string outer = std::exchange(lane_, lane);
  const auto scopes = std::exchange(scopes_, std::vector<Scope>(1));
  const auto uses = std::exchange(uses_, {});
  const Type type{result, factor.type().lanes};
  std::string text = print(factor.type() == type ? factor : cast(type, factor), code);
  lane_ = outer;
  scopes_ = scopes;
  uses_ = uses;
  return text;
}

}  // namespace lathe::c_like
