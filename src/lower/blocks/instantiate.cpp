#include "lower/blocks/instantiate.h"

#include <algorithm>

#include "base/check.h"
#include "lower/map.h"

namespace lathe {

Tensor Replacements::tensor(const Tensor& tensor) const {
  for (const auto& [from, to] : tensors) {
    if (from == tensor) return to;
  }
  return tensor;
}

namespace {

Affine with_atoms(const Affine& a, const std::vector<AtomValue>& values) {
  Affine result(a.constant());
  for (const Affine::Term& term : a.terms()) {
    const auto value = std::ranges::find_if(values, [&](const AtomValue& v) {
      return Affine::Term{v.atom, 1} == Affine::Term{term.atom, 1} && term.coefficient % v.scale == 0;
    });
    const bool found = value != values.end();
    result += found ? value->value * (term.coefficient / value->scale) : Affine(term.atom, term.coefficient);
  }
  return result;
}

}  // namespace

Affine replace(const Affine& a, const Replacements& replacements) {
  Affine result = replacements.atoms.empty() ? a : with_atoms(a, replacements.atoms);
  if (!replacements.vars.empty()) result = substitute(result, replacements.vars);
  if (replacements.tensors.empty()) return result;
  const Replacements tensors{{}, {}, replacements.tensors};
  return map_opaque(result, [&](const Expr& e) { return replace(e, tensors); });
}

Expr replace(const Expr& e, const Replacements& replacements) {
  const auto child = [&](const Expr& inner) { return replace(inner, replacements); };
  const auto affine = [&](const Affine& a) { return replace(a, replacements); };
  Expr mapped = map_children(e, child, affine);
  const Load* load = mapped.as<Load>();
  if (load == nullptr || replacements.tensors.empty()) return mapped;
  Tensor tensor = replacements.tensor(load->tensor);
  if (tensor == load->tensor) return mapped;
  return Expr(ExprNode{mapped.type(), Load{std::move(tensor), load->index, load->stride, load->mask}});
}

Store replace(const Store& store, const Replacements& replacements) {
  Store copy{replacements.tensor(store.tensor), {}, replace(store.value, replacements), store.stride, {}};
  copy.index.reserve(store.index.size());
  for (const Affine& index : store.index) copy.index.push_back(replace(index, replacements));
  if (store.mask.defined()) copy.mask = replace(store.mask, replacements);
  return copy;
}

Prefetch replace(const Prefetch& prefetch, const Replacements& replacements) {
  Prefetch copy{replacements.tensor(prefetch.tensor), {}};
  for (const Affine& index : prefetch.index) copy.index.push_back(replace(index, replacements));
  return copy;
}

std::vector<Conjunct> replace(const std::vector<Conjunct>& conditions, const Replacements& replacements) {
  std::vector<Conjunct> copy = conditions;
  for (Conjunct& conjunct : copy) conjunct.value = replace(conjunct.value, replacements);
  return copy;
}

namespace {

class Copier {
 public:
  explicit Copier(Replacements replacements) : replacements_(std::move(replacements)) {}

  Stmt copy(const Stmt& stmt) {
    return std::visit([&](const auto& node) { return this->node(node); }, stmt->node);
  }

 private:
  Stmt node(const For& loop) {
    For result{Var(loop.var.name()), {}, loop.kind, nullptr, loop.intrinsic};
    for (const Affine& extent : loop.extents) result.extents.push_back(replace(extent, replacements_));
    replacements_.vars.emplace_back(loop.var, Affine(result.var));
    result.body = copy(loop.body);
    replacements_.vars.pop_back();
    return make_stmt(std::move(result));
  }
  Stmt node(const Block&) {
    LATHE_CHECK(!"a block after lower_blocks");
    return nullptr;
  }
  Stmt node(const Seq& seq) {
    std::vector<Stmt> copies;
    for (const Stmt& child : seq.statements) copies.push_back(copy(child));
    return make_seq(std::move(copies));
  }
  Stmt node(const Alloc& alloc) {
    const Tensor fresh(alloc.tensor->name, alloc.tensor->shape, alloc.tensor->dtype);
    replacements_.tensors.emplace_back(alloc.tensor, fresh);
    Stmt body = copy(alloc.body);
    replacements_.tensors.pop_back();
    return make_stmt(Alloc{fresh, alloc.scope, alloc.layout, std::move(body)});
  }
  Stmt node(const If& branch) {
    return make_stmt(If{replace(branch.conditions, replacements_), copy(branch.body)});
  }
  Stmt node(const Store& store) { return make_stmt(replace(store, replacements_)); }
  Stmt node(const Prefetch& prefetch) { return make_stmt(replace(prefetch, replacements_)); }
  Stmt node(const Barrier& barrier) { return make_stmt(barrier); }

  Replacements replacements_;
};

}  // namespace

Stmt instantiate(const Stmt& stmt, Replacements replacements) {
  return Copier(std::move(replacements)).copy(stmt);
}

}  // namespace lathe
