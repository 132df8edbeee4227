#include "expr/walk.h"

#include <algorithm>

namespace lathe {
namespace {

void for_each_in(const Affine& a, const std::function<void(const Expr&)>& visit) {
  for (const Affine::Term& term : a.terms()) {
    switch (term.atom->kind) {
      case AtomKind::variable: break;
      case AtomKind::floor_div:
      case AtomKind::modulo: for_each_in(term.atom->operand, visit); break;
      case AtomKind::opaque: for_each(*term.atom->opaque, visit); break;
    }
  }
}

struct ChildVisitor {
  const std::function<void(const Expr&)>& visit;

  void operator()(const Literal&) const {}
  void operator()(const Index& e) const { for_each_in(e.value, visit); }
  void operator()(const Load& e) const {
    for (const Affine& index : e.index) for_each_in(index, visit);
    if (e.mask.defined()) for_each(e.mask, visit);
  }
  void operator()(const Unary& e) const { for_each(e.operand, visit); }
  void operator()(const Binary& e) const {
    for_each(e.a, visit);
    for_each(e.b, visit);
  }
  void operator()(const Select& e) const {
    for_each(e.condition, visit);
    for_each(e.if_true, visit);
    for_each(e.if_false, visit);
  }
  void operator()(const Cast& e) const { for_each(e.operand, visit); }
  void operator()(const BitCast& e) const { for_each(e.operand, visit); }
  void operator()(const Broadcast& e) const { for_each(e.operand, visit); }
  void operator()(const Ramp& e) const { for_each_in(e.base, visit); }
  void operator()(const Call& e) const {
    for (const Expr& operand : e.operands) for_each(operand, visit);
  }
};

bool has_opaque(const Affine& a) {
  return std::ranges::any_of(a.terms(), [](const Affine::Term& term) {
    return term.atom->kind == AtomKind::opaque || has_opaque(term.atom->operand);
  });
}

bool same(const Expr& a, const Expr& b) { return a.get() == b.get(); }

// Rebuilds one node from its rewritten children; gives back `self` where no child changed.
struct RebuildVisitor {
  const Expr& self;
  const ExprRewriter& rewriter;

  Affine affine(const Affine& a) const {
    Affine own = rewriter.rewrite_affine ? rewriter.rewrite_affine(a) : a;
    if (!rewriter.rewrite) return own;
    return map_opaque(own, [&](const Expr& e) { return rebuild(e, {rewriter.rewrite, nullptr}); });
  }
  Expr child(const Expr& e) const { return rebuild(e, rewriter); }

  Expr operator()(const Literal&) const { return self; }
  Expr operator()(const Index& e) const {
    Affine value = affine(e.value);
    return value == e.value ? self : Expr(value);
  }
  Expr operator()(const Load& e) const {
    Load result = e;
    for (Affine& index : result.index) index = affine(index);
    if (e.mask.defined()) result.mask = child(e.mask);
    if (result.index == e.index && same(result.mask, e.mask)) return self;
    return Expr(ExprNode{self.type(), std::move(result)});
  }
  Expr operator()(const Unary& e) const {
    const Expr operand = child(e.operand);
    return same(operand, e.operand) ? self : unary(e.op, operand);
  }
  Expr operator()(const Binary& e) const {
    const Expr a = child(e.a);
    const Expr b = child(e.b);
    return same(a, e.a) && same(b, e.b) ? self : binary(e.op, a, b);
  }
  Expr operator()(const Select& e) const {
    const Expr condition = child(e.condition);
    const Expr if_true = child(e.if_true);
    const Expr if_false = child(e.if_false);
    if (same(condition, e.condition) && same(if_true, e.if_true) && same(if_false, e.if_false)) return self;
    return select(condition, if_true, if_false);
  }
  Expr operator()(const Cast& e) const {
    const Expr operand = child(e.operand);
    return same(operand, e.operand) ? self : cast(self.type(), operand);
  }
  Expr operator()(const BitCast& e) const {
    const Expr operand = child(e.operand);
    return same(operand, e.operand) ? self : bit_cast(self.type(), operand);
  }
  Expr operator()(const Broadcast& e) const {
    const Expr operand = child(e.operand);
    return same(operand, e.operand) ? self : broadcast(operand, self.type().lanes);
  }
  Expr operator()(const Ramp& e) const {
    Affine base = affine(e.base);
    return base == e.base ? self : Expr(ExprNode{self.type(), Ramp{base, e.stride}});
  }
  Expr operator()(const Call& e) const {
    std::vector<Expr> operands;
    for (const Expr& operand : e.operands) operands.push_back(child(operand));
    return std::ranges::equal(operands, e.operands, same) ? self : call(e.intrinsic, std::move(operands));
  }
};

}  // namespace

void for_each(const Expr& e, const std::function<void(const Expr&)>& visit) {
  visit(e);
  std::visit(ChildVisitor{visit}, e->node);
}

size_t size_of(const Expr& e) {
  size_t size = 0;
  for_each(e, [&](const Expr&) { ++size; });
  return size;
}

std::vector<const Load*> loads_of(const Expr& e) {
  std::vector<const Load*> loads;
  for_each(e, [&](const Expr& node) {
    if (const Load* load = node.as<Load>()) loads.push_back(load);
  });
  return loads;
}

Expr rebuild(const Expr& e, const ExprRewriter& rewriter) {
  Expr rebuilt = std::visit(RebuildVisitor{e, rewriter}, e->node);
  if (!rewriter.rewrite) return rebuilt;
  Expr rewritten = rewriter.rewrite(rebuilt);
  return rewritten.defined() ? rewritten : rebuilt;
}

Affine map_opaque(const Affine& a, const std::function<Expr(const Expr&)>& map) {
  if (!has_opaque(a)) return a;
  Affine result(a.constant());
  for (const Affine::Term& term : a.terms()) {
    const AtomNode& atom = *term.atom;
    switch (atom.kind) {
      case AtomKind::variable: result += Affine(term.atom, term.coefficient); break;
      case AtomKind::floor_div:
        result += floor_div(map_opaque(atom.operand, map), atom.divisor) * term.coefficient;
        break;
      case AtomKind::modulo:
        result += modulo(map_opaque(atom.operand, map), atom.divisor) * term.coefficient;
        break;
      case AtomKind::opaque: result += to_affine(map(*atom.opaque)) * term.coefficient; break;
    }
  }
  return result;
}

Expr substitute(const Expr& e, const Substitution& substitution) {
  return rebuild(e, {nullptr, [&](const Affine& a) { return substitute(a, substitution); }});
}

Expr simplify_indices(const Expr& e, const Ranges& ranges) {
  return rebuild(e, {nullptr, [&](const Affine& a) { return simplify(a, ranges); }});
}

bool uses(const Expr& e, const Var& var) {
  std::vector<Var> vars;
  collect_vars(e, vars);
  return std::ranges::find(vars, var) != vars.end();
}

void collect_vars(const Expr& e, std::vector<Var>& vars) {
  for_each(e, [&](const Expr& node) {
    if (const Index* index = node.as<Index>()) collect_vars(index->value, vars);
    if (const Ramp* ramp = node.as<Ramp>()) collect_vars(ramp->base, vars);
    if (const Load* load = node.as<Load>()) {
      for (const Affine& index : load->index) collect_vars(index, vars);
    }
  });
}

}  // namespace lathe
