// Rebuilding one node from mapped children, as templates: what expr/walk.h and loop/walk.h do through
// std::function, for the passes that copy thousands of statements. What does not change is shared.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "expr/walk.h"
#include "loop/loop.h"

namespace lathe {

// In place of a map of indices: they stay as they are.
struct KeepIndices {};

// Maps every affine form of a list in place; true if one changed.
template <class AffineMap>
bool map_all(std::vector<Affine>& list, AffineMap&& affine) {
  bool changed = false;
  if constexpr (!std::is_same_v<std::remove_cvref_t<AffineMap>, KeepIndices>) {
    for (Affine& value : list) {
      Affine mapped = affine(value);
      if (mapped == value) continue;
      value = std::move(mapped);
      changed = true;
    }
  }
  return changed;
}

// The node with its child expressions given by `child` (Expr -> Expr) and its indices by `affine`
// (Affine -> Affine, or KeepIndices).
template <class ChildMap, class AffineMap>
class ExprMapper {
 public:
  ExprMapper(const Expr& self, ChildMap& child, AffineMap& affine)
      : self_(self), child_(child), affine_(affine) {}

  Expr operator()(const Literal&) const { return self_; }
  Expr operator()(const Index& e) const {
    if constexpr (kKeeps)
      return self_;
    else {
      Affine value = affine_(e.value);
      return value == e.value ? self_ : Expr(value);
    }
  }
  Expr operator()(const Load& e) const {
    std::vector<Affine> index = e.index;
    const bool moved = map_all(index, affine_);
    const Expr mask = e.mask.defined() ? child_(e.mask) : e.mask;
    if (!moved && mask.get() == e.mask.get()) return self_;
    return Expr(ExprNode{self_.type(), Load{e.tensor, std::move(index), e.stride, mask}});
  }
  Expr operator()(const Unary& e) const {
    const Expr operand = child_(e.operand);
    return operand.get() == e.operand.get() ? self_ : unary(e.op, operand);
  }
  Expr operator()(const Binary& e) const {
    const Expr a = child_(e.a);
    const Expr b = child_(e.b);
    return a.get() == e.a.get() && b.get() == e.b.get() ? self_ : binary(e.op, a, b);
  }
  Expr operator()(const Select& e) const {
    const Expr c = child_(e.condition);
    const Expr a = child_(e.if_true);
    const Expr b = child_(e.if_false);
    const bool same =
        c.get() == e.condition.get() && a.get() == e.if_true.get() && b.get() == e.if_false.get();
    return same ? self_ : select(c, a, b);
  }
  Expr operator()(const Cast& e) const {
    const Expr operand = child_(e.operand);
    return operand.get() == e.operand.get() ? self_ : cast(self_.type(), operand);
  }
  Expr operator()(const BitCast& e) const {
    const Expr operand = child_(e.operand);
    return operand.get() == e.operand.get() ? self_ : bit_cast(self_.type(), operand);
  }
  Expr operator()(const Broadcast& e) const {
    const Expr operand = child_(e.operand);
    return operand.get() == e.operand.get() ? self_ : broadcast(operand, self_.type().lanes);
  }
  Expr operator()(const Ramp& e) const {
    if constexpr (kKeeps)
      return self_;
    else {
      Affine base = affine_(e.base);
      return base == e.base ? self_ : Expr(ExprNode{self_.type(), Ramp{std::move(base), e.stride}});
    }
  }
  Expr operator()(const Call& e) const {
    std::vector<Expr> operands = e.operands;
    bool changed = false;
    for (Expr& operand : operands) {
      Expr mapped = child_(operand);
      changed |= mapped.get() != operand.get();
      operand = std::move(mapped);
    }
    return changed ? call(e.intrinsic, std::move(operands)) : self_;
  }

 private:
  static constexpr bool kKeeps = std::is_same_v<std::remove_cvref_t<AffineMap>, KeepIndices>;

  const Expr& self_;
  ChildMap& child_;
  AffineMap& affine_;
};

template <class ChildMap, class AffineMap>
Expr map_children(const Expr& e, ChildMap&& child, AffineMap&& affine) {
  return std::visit(ExprMapper<ChildMap, AffineMap>(e, child, affine), e->node);
}

// The statement with its child statements mapped by `child` (Stmt -> Stmt, null removes); null if nothing is
// left. Block, Store and Prefetch have none.
template <class ChildMap>
Stmt map_statements(const Stmt& stmt, ChildMap&& child) {
  const auto single = [&](const auto& node) -> Stmt {
    Stmt body = child(node.body);
    if (!body || body == node.body) return body ? stmt : nullptr;
    auto copy = node;
    copy.body = std::move(body);
    return make_stmt(std::move(copy));
  };
  if (const For* loop = as<For>(stmt)) return single(*loop);
  if (const Alloc* alloc = as<Alloc>(stmt)) return single(*alloc);
  if (const If* branch = as<If>(stmt)) return single(*branch);
  const Seq* seq = as<Seq>(stmt);
  if (seq == nullptr) return stmt;
  std::vector<Stmt> mapped;
  mapped.reserve(seq->statements.size());
  bool changed = false;
  for (const Stmt& inner : seq->statements) {
    mapped.push_back(child(inner));
    changed |= mapped.back() != inner;
  }
  return changed ? make_seq(std::move(mapped)) : stmt;
}

// The program with both statement trees mapped (Stmt -> Stmt).
template <class TreeMap>
Program map_trees(const Program& program, TreeMap&& map) {
  Program result = program;
  if (program.prepare) result.prepare = map(program.prepare);
  if (program.main) result.main = map(program.main);
  return result;
}

// The same for a mapping that may fail (Stmt -> Result<Stmt>).
template <class TreeMap>
Result<Program> try_map_trees(const Program& program, TreeMap&& map) {
  Program result = program;
  for (Stmt Program::* tree : {&Program::prepare, &Program::main}) {
    if (!(program.*tree)) continue;
    LATHE_TRY(result.*tree, map(program.*tree));
  }
  return result;
}

}  // namespace lathe
