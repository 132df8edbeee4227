#include "lower/arithmetic/fold_arithmetic.h"

#include <cmath>
#include <functional>

#include "expr/integers.h"
#include "expr/walk.h"
#include "loop/host_tensor.h"
#include "loop/interpreter/arithmetic.h"
#include "lower/map.h"

namespace lathe {
namespace {

// A scalar literal, or the scalar below a broadcast.
const Literal* literal_of(const Expr& e) {
  if (const Broadcast* splat = e.as<Broadcast>()) return literal_of(splat->operand);
  return e.as<Literal>();
}

// Whether it reads an element or chooses one: of what comes out as a literal, from a table or beside padding.
bool is_read(const Expr& e) {
  bool found = false;
  for_each(e, [&](const Expr& part) {
    found = found || part.as<Load>() != nullptr || part.as<Select>() != nullptr;
  });
  return found;
}

bool is_value(const Expr& e, double value) {
  const Literal* number = literal_of(e);
  return number != nullptr && is_float(e.type().dtype) && number->value == value;
}

Expr splat(Type type, double value) {
  const Expr scalar = literal({type.dtype, 1}, value);
  return type.lanes == 1 ? scalar : broadcast(scalar, type.lanes);
}

const Expr* negated(const Expr& e) {
  const Unary* node = e.as<Unary>();
  return node != nullptr && node->op == UnaryOp::negate ? &node->operand : nullptr;
}

Expr truth(bool value, int lanes) { return splat({DType::boolean, lanes}, value ? 1 : 0); }

// The least and largest lane of an integer expression as affine forms.
struct LaneRange {
  Affine lo;
  Affine hi;
};
std::optional<LaneRange> lane_range(const Expr& e) {
  if (const Index* index = e.as<Index>()) return LaneRange{index->value, index->value};
  if (const Broadcast* splat = e.as<Broadcast>()) return lane_range(splat->operand);
  const Ramp* ramp = e.as<Ramp>();
  if (ramp == nullptr) return std::nullopt;
  const Affine last = ramp->base + ramp->stride * (e.type().lanes - 1);
  return ramp->stride >= 0 ? LaneRange{ramp->base, last} : LaneRange{last, ramp->base};
}

class Folder {
 public:
  explicit Folder(const Known& known) : known_(known) {}

  Expr fold(const Expr& e) const {
    const auto child = [this](const Expr& inner) { return fold(inner); };
    if (const Select* choice = e.as<Select>()) return select_of(e, *choice);
    Expr folded = map_children(e, child, KeepIndices());
    if (vanishes(e, folded)) return splat(e.type(), 0);
    if (const Binary* node = folded.as<Binary>()) return binary_of(folded, *node);
    if (const Unary* node = folded.as<Unary>()) return unary_of(folded, *node);
    if (const Load* node = folded.as<Load>()) return load_of(folded, *node);
    if (const Cast* node = folded.as<Cast>()) return cast_of(folded, *node);
    if (const Broadcast* node = folded.as<Broadcast>()) {
      if (node->operand.type().lanes == folded.type().lanes) return node->operand;
    }
    return folded;
  }

 private:
  // A product with a zero of padding or of a table of coefficients says that the other factor is left out. A
  // zero that the program itself writes is a number as any other: times infinity it gives NaN.
  static bool vanishes(const Expr& e, const Expr& folded) {
    const Binary* before = e.as<Binary>();
    const Binary* after = folded.as<Binary>();
    if (before == nullptr || after == nullptr || before->op != BinaryOp::mul) return false;
    const auto leaves_out = [](const Expr& was, const Expr& is) { return is_value(is, 0) && is_read(was); };
    return leaves_out(before->a, after->a) || leaves_out(before->b, after->b);
  }

  Expr select_of(const Expr& e, const Select& choice) const {
    const Expr condition = fold(choice.condition);
    if (is_true(condition)) return wide(fold(choice.if_true), e.type());
    if (is_false(condition)) return wide(fold(choice.if_false), e.type());
    Expr a = fold(choice.if_true);
    const Expr b = fold(choice.if_false);
    if (equal(a, b)) return a;
    const bool same = condition.get() == choice.condition.get() && a.get() == choice.if_true.get() &&
                      b.get() == choice.if_false.get();
    return same ? e : select(condition, a, b);
  }

  static Expr wide(const Expr& e, Type type) {
    return e.type().lanes == type.lanes ? e : broadcast(e, type.lanes);
  }

  Expr binary_of(const Expr& e, const Binary& node) const {
    switch (node.op) {
      case BinaryOp::add: return sum_of(e, node);
      case BinaryOp::sub: return difference_of(e, node);
      case BinaryOp::mul: return product_of(e, node);
      case BinaryOp::div: return is_value(node.b, 1) ? node.a : e;
      case BinaryOp::bit_and:
      case BinaryOp::bit_or:
      case BinaryOp::bit_xor:
      case BinaryOp::shift_left:
      case BinaryOp::shift_right: return bits_of(e, node);
      case BinaryOp::less:
      case BinaryOp::less_equal:
      case BinaryOp::equal:
      case BinaryOp::not_equal: return comparison_of(e, node);
      case BinaryOp::logical_and: return and_of(e, node);
      case BinaryOp::logical_or: return or_of(e, node);
      case BinaryOp::mod:
      case BinaryOp::min:
      case BinaryOp::max:
      case BinaryOp::pow:
      case BinaryOp::copy_sign: return e;
    }
    return e;
  }

  // Literals, and those that change no bit or leave none: 0, and all ones of `bit_and` and `bit_or`.
  static Expr bits_of(const Expr& e, const Binary& node) {
    const DType dtype = e.type().dtype;
    const Literal* const a = literal_of(node.a);
    const Literal* const b = literal_of(node.b);
    if (a != nullptr && b != nullptr) {
      const int64_t bits = interpreter::apply_to_integers(dtype, node.op, a->integer, b->integer);
      const Expr scalar = integer_literal({dtype, 1}, bits);
      return e.type().lanes == 1 ? scalar : broadcast(scalar, e.type().lanes);
    }
    const bool is_shift = node.op == BinaryOp::shift_left || node.op == BinaryOp::shift_right;
    if (b == nullptr) return a == nullptr || is_shift ? e : bits_of_constant(e, node.op, node.b, node.a);
    return bits_of_constant(e, node.op, node.a, node.b);
  }
  static Expr bits_of_constant(const Expr& e, BinaryOp op, const Expr& x, const Expr& constant) {
    const int64_t bits = literal_of(constant)->integer;
    if (bits == 0) return op == BinaryOp::bit_and ? constant : x;
    if (bits != wrap_to(e.type().dtype, -1)) return e;
    if (op == BinaryOp::bit_and) return x;
    return op == BinaryOp::bit_or ? constant : e;
  }

  // Arithmetic on literals is done in their type, as the machine would: rounded before and after.
  template <class F>
  static std::optional<Expr> computed(const Binary& node, const F& f) {
    const Type type = node.a.type();
    const Literal* const a = node.a.as<Literal>();
    const Literal* const b = node.b.as<Literal>();
    if (a == nullptr || b == nullptr || !is_float(type.dtype)) return std::nullopt;
    return literal(type,
                   round_to(type.dtype, f(round_to(type.dtype, a->value), round_to(type.dtype, b->value))));
  }

  Expr sum_of(const Expr& e, const Binary& node) const {
    if (const auto literals = computed(node, std::plus<>())) return *literals;
    if (is_value(node.b, 0)) return node.a;
    if (is_value(node.a, 0)) return node.b;
    if (const Expr* b = negated(node.b)) return fold_again(BinaryOp::sub, node.a, *b);
    if (const Expr* a = negated(node.a)) return fold_again(BinaryOp::sub, node.b, *a);
    return e;
  }

  Expr difference_of(const Expr& e, const Binary& node) const {
    if (const auto literals = computed(node, std::minus<>())) return *literals;
    if (is_value(node.b, 0)) return node.a;
    if (const Expr* b = negated(node.b)) return fold_again(BinaryOp::add, node.a, *b);
    return e;
  }

  Expr product_of(const Expr& e, const Binary& node) const {
    if (const auto literals = computed(node, std::multiplies<>())) return *literals;
    if (is_value(node.a, 1)) return node.b;
    if (is_value(node.b, 1)) return node.a;
    if (is_value(node.a, -1)) return opposite(node.b);
    if (is_value(node.b, -1)) return opposite(node.a);
    return e;
  }

  // A coefficient -1 turns a difference around. A negation that the program writes keeps its zeros' sign:
  // -(a - b) is -0 where b - a is 0.
  Expr opposite(const Expr& e) const {
    const Binary* difference = e.as<Binary>();
    const bool turns = difference != nullptr && difference->op == BinaryOp::sub && is_float(e.type().dtype);
    return turns ? binary(BinaryOp::sub, difference->b, difference->a) : fold_node(unary(UnaryOp::negate, e));
  }

  // Folds a new node whose operands are folded.
  Expr fold_node(const Expr& e) const {
    if (const Binary* node = e.as<Binary>()) return binary_of(e, *node);
    if (const Unary* node = e.as<Unary>()) return unary_of(e, *node);
    return e;
  }
  Expr fold_again(BinaryOp op, const Expr& a, const Expr& b) const { return fold_node(binary(op, a, b)); }

  // A comparison of a quotient as one of what is divided: x / 3 < 4 -> x < 12.
  static std::optional<Expr> undivided(const Binary& node) {
    const Index* a = node.a.as<Index>();
    const Index* b = node.b.as<Index>();
    if (a == nullptr || b == nullptr) return std::nullopt;
    const Affine value = a->value - b->value;  // < bound
    const int64_t bound = node.op == BinaryOp::less ? 0 : 1;
    const bool single = value.terms().size() == 1 && std::abs(value.terms()[0].coefficient) == 1;
    if (!single || value.terms()[0].atom->kind != AtomKind::floor_div) return std::nullopt;
    const AtomNode& quotient = *value.terms()[0].atom;
    if (value.terms()[0].coefficient > 0)
      return Expr(quotient.operand) < Expr((bound - value.constant()) * quotient.divisor);
    return Expr((value.constant() - bound + 1) * quotient.divisor) <= Expr(quotient.operand);
  }

  Expr comparison_of(const Expr& e, const Binary& node) const {
    const bool orders = node.op == BinaryOp::less || node.op == BinaryOp::less_equal;
    const std::optional<Expr> plain = orders ? undivided(node) : std::nullopt;
    return plain ? decided(*plain, *plain->as<Binary>()) : decided(e, node);
  }

  // A comparison, or the constant that ranges make it.
  Expr decided(const Expr& e, const Binary& node) const {
    const std::optional<LaneRange> a = lane_range(node.a);
    const std::optional<LaneRange> b = lane_range(node.b);
    if (!a || !b) return e;
    const int lanes = e.type().lanes;
    const bool below = known_.at_most(a->hi - b->lo, -1);  // a < b in every lane
    const bool above = known_.at_most(b->hi - a->lo, -1);
    switch (node.op) {
      case BinaryOp::less:
        if (below) return truth(true, lanes);
        return known_.at_most(b->hi - a->lo, 0) ? truth(false, lanes) : e;
      case BinaryOp::less_equal:
        if (above) return truth(false, lanes);
        return known_.at_most(a->hi - b->lo, 0) ? truth(true, lanes) : e;
      default: break;
    }
    if (below || above) return truth(node.op == BinaryOp::not_equal, lanes);
    const bool same = a->lo == a->hi && b->lo == b->hi && a->lo == b->lo;
    return same ? truth(node.op == BinaryOp::equal, lanes) : e;
  }

  Expr and_of(const Expr& e, const Binary& node) const {
    if (is_true(node.a) || is_false(node.b)) return node.b;
    if (is_true(node.b) || is_false(node.a)) return node.a;
    return e;
  }
  Expr or_of(const Expr& e, const Binary& node) const {
    if (is_false(node.a) || is_true(node.b)) return node.b;
    if (is_false(node.b) || is_true(node.a)) return node.a;
    return e;
  }

  Expr unary_of(const Expr& e, const Unary& node) const {
    if (node.op == UnaryOp::logical_not) {
      if (is_true(node.operand)) return truth(false, e.type().lanes);
      if (is_false(node.operand)) return truth(true, e.type().lanes);
    }
    if (node.op != UnaryOp::negate) return e;
    if (const Expr* inner = negated(node.operand)) return *inner;
    const Literal* value = node.operand.as<Literal>();
    if (value != nullptr && is_float(e.type().dtype)) return literal(e.type(), -value->value);
    return e;
  }

  Expr load_of(const Expr& e, const Load& node) const {
    if (node.mask.defined() && is_false(node.mask)) return splat(e.type(), 0);
    if (node.mask.defined() && is_true(node.mask)) {
      return fold(Expr(ExprNode{e.type(), Load{node.tensor, node.index, node.stride, {}}}));
    }
    const TensorNode& tensor = *node.tensor.get();
    if (tensor.literal.empty() || e.type().lanes > 1) return e;
    const bool flat = node.index.size() == 1;
    int64_t offset = 0;
    for (size_t dim = 0; dim < node.index.size(); ++dim) {
      const Affine& index = node.index[dim];
      if (!index.is_constant()) return e;
      offset = flat ? index.constant() : offset * tensor.shape[dim] + index.constant();
    }
    if (offset < 0 || offset >= static_cast<int64_t>(tensor.literal.size())) return e;
    return literal(e.type(), tensor.literal[static_cast<size_t>(offset)]);
  }

  Expr cast_of(const Expr& e, const Cast& node) const {
    const Type type = e.type();
    if (type.lanes != 1) return e;
    const Literal* value = node.operand.as<Literal>();
    const Index* index = node.operand.as<Index>();
    if (index != nullptr && index->value.is_constant() && is_float(type.dtype)) {
      return literal(type, round_to(type.dtype, static_cast<double>(index->value.constant())));
    }
    const bool widens = type.dtype == DType::f32 || type.dtype == DType::f64;
    if (value == nullptr || !widens) return e;
    const DType from = node.operand.type().dtype;
    const double number = is_float(from) ? round_to(from, value->value) : number_kept(from, value->integer);
    return literal(type, round_to(type.dtype, number));
  }

  const Known& known_;
};

class TreeFolder {
 public:
  Stmt visit(const Stmt& stmt, const Known& known) const {
    if (const Store* store = as<Store>(stmt)) return fold_store(stmt, *store, known);
    const auto plain = [&](const Stmt& child) { return visit(child, known); };
    if (const For* loop = as<For>(stmt)) {
      Known inside = known;
      inside.enter(*loop);
      return map_statements(stmt, [&](const Stmt& child) { return visit(child, inside); });
    }
    const If* branch = as<If>(stmt);
    if (branch == nullptr) return map_statements(stmt, plain);
    Known inside = known;
    for (const Conjunct& conjunct : branch->conditions) inside.assume(conjunct);
    return map_statements(stmt, [&](const Stmt& child) { return visit(child, inside); });
  }

 private:
  static Stmt fold_store(const Stmt& stmt, const Store& store, const Known& known) {
    const Expr value = fold(store.value, known);
    Expr mask = store.mask.defined() ? fold(store.mask, known) : store.mask;
    if (mask.defined() && is_false(mask)) return nullptr;
    if (mask.defined() && is_true(mask)) mask = {};
    const Load* load = value.as<Load>();
    const bool itself = load != nullptr && load->tensor == store.tensor && load->index == store.index &&
                        load->stride == store.stride && value.type().lanes == store.value.type().lanes;
    if (itself && !load->mask.defined()) return nullptr;
    if (value.get() == store.value.get() && mask.get() == store.mask.get()) return stmt;
    return make_stmt(Store{store.tensor, store.index, value, store.stride, mask});
  }
};

}  // namespace

bool is_true(const Expr& condition) {
  const Literal* value = literal_of(condition);
  return value != nullptr && value->integer != 0;
}

bool is_false(const Expr& condition) {
  const Literal* value = literal_of(condition);
  return value != nullptr && condition.type().dtype == DType::boolean && value->integer == 0;
}

Expr fold(const Expr& e, const Known& known) { return Folder(known).fold(e); }

Program fold_arithmetic(const Program& program) {
  return map_trees(program, [](const Stmt& tree) { return TreeFolder().visit(tree, Known()); });
}

}  // namespace lathe
