#include "expr/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "expr/inputs.h"
#include "expr/walk.h"

namespace lathe {
namespace {

// How tightly an operator binds; an operand of a looser level than its place asks for gets parentheses.
enum Level { kOr, kAnd, kComparison, kSum, kProduct, kPrefix, kPrimary };

struct Text {
  std::string text;
  Level level = kPrimary;
};

Text print(const Expr& e);

std::string at_least(const Expr& e, Level level) {
  Text printed = print(e);
  return printed.level < level ? "(" + printed.text + ")" : std::move(printed.text);
}

// How an operator binds; a function's operands stand alone.
Level level_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::logical_or: return kOr;
    case BinaryOp::logical_and: return kAnd;
    case BinaryOp::less:
    case BinaryOp::less_equal:
    case BinaryOp::equal:
    case BinaryOp::not_equal: return kComparison;
    case BinaryOp::add:
    case BinaryOp::sub: return kSum;
    case BinaryOp::mul:
    case BinaryOp::div:
    case BinaryOp::mod: return kProduct;
    case BinaryOp::min:
    case BinaryOp::max:
    case BinaryOp::pow:
    case BinaryOp::copy_sign:
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor:
    case BinaryOp::shift_left:
    case BinaryOp::shift_right: return kPrimary;
  }
  return kPrimary;
}

Level level_of(const Affine& a) {
  const size_t parts = a.terms().size() + (a.constant() != 0 ? 1 : 0);
  if (parts > 1) return kSum;
  if (a.is_constant()) return a.constant() < 0 ? kPrefix : kPrimary;
  const Affine::Term& term = a.terms()[0];
  if (term.coefficient != 1) return kProduct;
  const bool division = term.atom->kind == AtomKind::floor_div || term.atom->kind == AtomKind::modulo;
  return division ? kProduct : kPrimary;
}

// A load's index. An i32 value that stands alone is widened by the reader, so its cast is not written.
std::string print_index(const Affine& index) {
  const bool lone = index.constant() == 0 && index.terms().size() == 1 && index.terms()[0].coefficient == 1;
  if (!lone || index.terms()[0].atom->kind != AtomKind::opaque) return to_string(index);
  const Expr& value = *index.terms()[0].atom->opaque;
  const Cast* cast = value.as<Cast>();
  return to_string(cast != nullptr && cast->operand.type().dtype == DType::i32 ? cast->operand : value);
}

std::string print_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

Text print_literal(Type type, const Literal& literal) {
  std::string text = fmt::format("{}", literal.integer);
  if (type.dtype == DType::boolean) text = literal.integer != 0 ? "true" : "false";
  if (is_float(type.dtype)) text = print_float(literal.value);
  const bool plain = type.lanes == 1 && (type.dtype == DType::boolean || type.dtype == DType::f32);
  if (!plain) return {fmt::format("{}({})", to_string(type), text), kPrimary};
  const Level level = std::signbit(literal.value) && !std::isnan(literal.value) ? kPrefix : kPrimary;
  return {std::move(text), level};
}

std::string print_load(const Load& load, int lanes) {
  std::vector<std::string> parts;
  for (const Affine& index : load.index) parts.push_back(print_index(index));
  std::string inside = fmt::format("{}", fmt::join(parts, ", "));
  if (lanes > 1) inside += fmt::format("; {} by {}", lanes, load.stride);
  if (load.mask.defined()) inside += " if " + to_string(load.mask);
  return fmt::format("{}[{}]", load.tensor->name, inside);
}

// One operand of an infix operator. An integer literal beside an i32 value becomes i32 when it is read.
std::string print_operand(const Expr& e, const Expr& other, Level level) {
  const Literal* literal = e.as<Literal>();
  if (literal != nullptr && e.type() == Type{DType::i32, 1} && other.as<Literal>() == nullptr) {
    const std::string text = fmt::format("{}", literal->integer);
    return literal->integer < 0 && level > kPrefix ? "(" + text + ")" : text;
  }
  return at_least(e, level);
}

struct Printer {
  Type type;

  Text operator()(const Literal& e) const { return print_literal(type, e); }
  Text operator()(const Index& e) const { return {to_string(e.value), level_of(e.value)}; }
  Text operator()(const Load& e) const { return {print_load(e, type.lanes), kPrimary}; }
  Text operator()(const Unary& e) const {
    if (e.op == UnaryOp::logical_not) return {"!" + at_least(e.operand, kPrefix), kPrefix};
    if (e.op != UnaryOp::negate) return {fmt::format("{}({})", to_string(e.op), to_string(e.operand))};
    // "-1.0" is a literal, "-(1.0)" the negation of one.
    const bool number = e.operand.as<Literal>() != nullptr || e.operand.as<Index>() != nullptr;
    return {number ? "-(" + to_string(e.operand) + ")" : "-" + at_least(e.operand, kPrefix), kPrefix};
  }
  Text operator()(const Binary& e) const {
    const Level level = level_of(e.op);
    if (level == kPrimary) {
      return {fmt::format("{}({}, {})", to_string(e.op), print_operand(e.a, e.b, kOr),
                          print_operand(e.b, e.a, kOr))};
    }
    // Sums and products lean left; comparisons do not chain.
    const Level left = level == kComparison ? kSum : level;
    const auto right = static_cast<Level>(level + 1);
    return {fmt::format("{} {} {}", print_operand(e.a, e.b, left), to_string(e.op),
                        print_operand(e.b, e.a, right)),
            level};
  }
  Text operator()(const Select& e) const {
    return {fmt::format("select({}, {}, {})", to_string(e.condition), to_string(e.if_true),
                        to_string(e.if_false))};
  }
  Text operator()(const Cast& e) const {
    // "f64(0.1)" is a literal; a cast of a literal names the literal's type too.
    const bool literal = e.operand.as<Literal>() != nullptr && e.operand.type().dtype == DType::f32;
    const std::string operand = to_string(e.operand);
    return {fmt::format("{}({})", to_string(type.dtype), literal ? "f32(" + operand + ")" : operand)};
  }
  Text operator()(const Broadcast& e) const {
    return {fmt::format("broadcast({}, {})", to_string(e.operand), type.lanes)};
  }
  Text operator()(const Ramp& e) const {
    return {fmt::format("ramp({}, {}, {})", to_string(e.base), e.stride, type.lanes)};
  }
  Text operator()(const Call& e) const {
    std::string operands;
    for (const Expr& operand : e.operands) operands += ", " + to_string(operand);
    return {fmt::format("call({}{})", e.intrinsic, operands)};
  }
  Text operator()(const BitCast& e) const {
    return {fmt::format("bit_cast({}, {})", to_string(type.dtype), to_string(e.operand))};
  }
};

Text print(const Expr& e) { return std::visit(Printer{e.type()}, e->node); }

std::string declaration(const char* keyword, const Tensor& tensor) {
  std::string text = fmt::format("{} {}[{}]", keyword, tensor->name, fmt::join(tensor->shape, ", "));
  if (tensor->dtype != DType::f32) text += fmt::format(" {}", to_string(tensor->dtype));
  return text;
}

std::string print_table(const Tensor& table) {
  std::vector<std::string> values;
  for (double value : table->literal) values.push_back(print_float(value));
  return fmt::format("{} = {{{}}}", declaration("table", table), fmt::join(values, ", "));
}

// The tables that a Dag reads, in order of first use.
std::vector<Tensor> tables_of(const Dag& dag) {
  std::vector<Tensor> tables;
  for (const Compute& compute : dag.computes) {
    for (const Load* load : loads_of(compute.body)) {
      const bool known = std::ranges::find(tables, load->tensor) != tables.end();
      if (!load->tensor->literal.empty() && !known) tables.push_back(load->tensor);
    }
  }
  return tables;
}

}  // namespace

std::string to_string(const Expr& e) { return print(e).text; }
std::string to_factor(const Expr& e) { return at_least(e, kPrimary); }
std::string to_string(const Load& load) { return print_load(load, 1); }

std::string to_string(const std::vector<Axis>& axes) {
  std::vector<std::string> parts;
  for (const Axis& axis : axes) parts.push_back(fmt::format("{}:{}", axis.var.name(), axis.extent));
  return fmt::format("{}", fmt::join(parts, ", "));
}

const char* to_string(BinaryOp op) {
  switch (op) {
    case BinaryOp::add: return "+";
    case BinaryOp::sub: return "-";
    case BinaryOp::mul: return "*";
    case BinaryOp::div: return "/";
    case BinaryOp::mod: return "%";
    case BinaryOp::less: return "<";
    case BinaryOp::less_equal: return "<=";
    case BinaryOp::equal: return "==";
    case BinaryOp::not_equal: return "!=";
    case BinaryOp::logical_and: return "&&";
    case BinaryOp::logical_or: return "||";
    case BinaryOp::min: return "min";
    case BinaryOp::max: return "max";
    case BinaryOp::pow: return "pow";
    case BinaryOp::copy_sign: return "copy_sign";
    case BinaryOp::bit_and: return "bit_and";
    case BinaryOp::bit_or: return "bit_or";
    case BinaryOp::bit_xor: return "bit_xor";
    case BinaryOp::shift_left: return "shift_left";
    case BinaryOp::shift_right: return "shift_right";
  }
  return "";
}

const char* to_string(UnaryOp op) {
  switch (op) {
    case UnaryOp::exp: return "exp";
    case UnaryOp::log: return "log";
    case UnaryOp::sqrt: return "sqrt";
    case UnaryOp::tanh: return "tanh";
    case UnaryOp::erf: return "erf";
    case UnaryOp::abs: return "abs";
    case UnaryOp::floor: return "floor";
    case UnaryOp::pow2: return "pow2";
    case UnaryOp::exponent: return "exponent";
    case UnaryOp::mantissa: return "mantissa";
    case UnaryOp::sin: return "sin";
    case UnaryOp::cos: return "cos";
    case UnaryOp::ceil: return "ceil";
    case UnaryOp::round: return "round";
    case UnaryOp::truncate: return "truncate";
    case UnaryOp::negate: return "-";
    case UnaryOp::logical_not: return "!";
  }
  return "";
}

const char* to_string(Reduction reduction) {
  switch (reduction) {
    case Reduction::none: return "none";
    case Reduction::sum: return "sum";
    case Reduction::max: return "max";
    case Reduction::min: return "min";
    case Reduction::product: return "product";
  }
  return "";
}

std::string to_string(const Compute& compute) {
  const auto middle = compute.axes.begin() + static_cast<std::ptrdiff_t>(compute.spatial_count());
  std::string text = fmt::format("{}[{}] = ", compute.output->name,
                                 to_string(std::vector<Axis>(compute.axes.begin(), middle)));
  if (compute.reduction != Reduction::none) {
    text += fmt::format("{}({}) ", to_string(compute.reduction),
                        to_string(std::vector<Axis>(middle, compute.axes.end())));
  }
  return text + to_string(compute.body);
}

std::string to_string(const Dag& dag) {
  std::string text;
  if (!inputs_are_implied(dag)) {
    for (const Tensor& input : dag.inputs) text += declaration("input", input) + "\n";
  }
  for (const Tensor& table : tables_of(dag)) text += print_table(table) + "\n";
  for (const Compute& compute : dag.computes) text += to_string(compute) + "\n";
  if (!outputs_are_implied(dag)) {
    for (const Tensor& output : dag.outputs) text += "output " + output->name + "\n";
  }
  return text;
}

}  // namespace lathe
