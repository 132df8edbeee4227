#include "loop/region.h"

#include <algorithm>

#include "loop/walk.h"

namespace lathe {
namespace {

bool uses_any(const Affine& a, const Ranges& moving) {
  std::vector<Var> vars;
  collect_vars(a, vars);
  return std::ranges::any_of(vars, [&](const Var& var) { return moving.find(var.atom().get()) != nullptr; });
}

// Splits a sum into the part that neither moving variables nor values of tensors occur in, and the rest.
std::pair<Affine, Affine> split_fixed(const Affine& a, const Ranges& moving) {
  Affine fixed(a.constant());
  Affine rest;
  for (const Affine::Term& term : a.terms()) {
    const Affine part(term.atom, term.coefficient);
    (uses_any(part, moving) || depends_on_values(part) ? rest : fixed) += part;
  }
  return {std::move(fixed), std::move(rest)};
}

std::optional<BoxSide> side_of_atom(const AtomNode& atom, const Ranges& moving);

// base + [0, extent) scaled by a coefficient and added to `sum`.
void accumulate(BoxSide& sum, const BoxSide& side, int64_t coefficient) {
  const int64_t span = side.extent - 1;
  sum.base += side.base * coefficient;
  if (coefficient < 0) sum.base += Affine(span * coefficient);
  sum.extent += span * std::abs(coefficient);
}

std::optional<BoxSide> side_of_sum(const Affine& value, const Ranges& moving) {
  auto [fixed, rest] = split_fixed(value, moving);
  BoxSide sum{fixed, 1};
  for (const Affine::Term& term : rest.terms()) {
    const auto side = side_of_atom(*term.atom, moving);
    if (!side) return std::nullopt;
    accumulate(sum, *side, term.coefficient);
  }
  return sum;
}

// (base + [0, extent)) div c starts at base div c and spans at most (extent - 1 + c - 1) div c steps more.
BoxSide divided(const BoxSide& operand, int64_t divisor) {
  const Affine first = floor_div(operand.base, divisor);
  const int64_t span = operand.extent - 1;
  const bool aligned = modulo(operand.base, divisor).is(0);
  return {first, (aligned ? span / divisor : (span + divisor - 1) / divisor) + 1};
}

std::optional<BoxSide> side_of_atom(const AtomNode& atom, const Ranges& moving) {
  switch (atom.kind) {
    case AtomKind::variable: {
      const Interval* range = moving.find(&atom);
      return BoxSide{Affine(range->lo), range->hi - range->lo + 1};
    }
    case AtomKind::floor_div: {
      const auto operand = side_of_sum(atom.operand, moving);
      if (!operand) return std::nullopt;
      return divided(*operand, atom.divisor);
    }
    case AtomKind::modulo: {
      const auto operand = side_of_sum(atom.operand, moving);
      if (operand) {
        const Affine first = modulo(operand->base, atom.divisor);
        if (first.is_constant() && first.constant() + operand->extent <= atom.divisor)
          return BoxSide{first, operand->extent};
      }
      return BoxSide{Affine(0), atom.divisor};
    }
    case AtomKind::opaque: return std::nullopt;
  }
  return std::nullopt;
}

// The smallest side that holds both; nothing where their bases differ by more than a constant.
std::optional<BoxSide> unite(const BoxSide& a, const BoxSide& b) {
  const Affine difference = b.base - a.base;
  if (!difference.is_constant()) return std::nullopt;
  const int64_t d = difference.constant();
  const int64_t lo = std::min<int64_t>(0, d);
  const int64_t hi = std::max(a.extent, d + b.extent);
  return BoxSide{a.base + lo, hi - lo};
}

class RegionFinder {
 public:
  RegionFinder(const Tensor& tensor, Access access, const Ranges& fixed)
      : tensor_(tensor), access_(access), all_(fixed) {}

  void visit(const Stmt& stmt);
  std::optional<Box> box() const { return box_; }

 private:
  void access(const std::vector<Affine>& index, const Substitution& bindings);
  void reads_of(const Expr& value, const Substitution& bindings);
  bool wants(Access access) const { return access_ == Access::any || access_ == access; }
  void visit_block(const Block& block);
  void access_block(const Block& block, const Substitution& bindings);

  const Tensor& tensor_;
  Access access_;
  Ranges all_;     // of fixed and moving variables
  Ranges moving_;  // of the loops inside
  std::optional<Box> box_;
  std::vector<Interval> whole_;  // the dimensions, and what accesses reach outside of them
};

void RegionFinder::access(const std::vector<Affine>& index, const Substitution& bindings) {
  const bool first = !box_.has_value();
  if (first) {
    box_.emplace(index.size());
    for (const int64_t extent : tensor_->shape) whole_.push_back({0, extent - 1});
  }
  for (size_t dim = 0; dim < index.size(); ++dim) {
    const Affine value = simplify(substitute(index[dim], bindings), all_);
    Interval& whole = whole_[dim];
    if (const auto reach = bounds(value, all_)) {
      whole = {std::min(whole.lo, reach->lo), std::max(whole.hi, reach->hi)};
    }
    std::optional<BoxSide> side = side_of_sum(value, moving_);
    if (side && !first) side = unite((*box_)[dim], *side);
    (*box_)[dim] = side.value_or(BoxSide{Affine(whole.lo), whole.hi - whole.lo + 1});
  }
}

void RegionFinder::reads_of(const Expr& value, const Substitution& bindings) {
  if (!value.defined() || !wants(Access::read)) return;
  for (const Load* load : loads_of(value)) {
    if (load->tensor == tensor_) access(load->index, bindings);
  }
}

void RegionFinder::visit_block(const Block& block) {
  Substitution bindings;
  for (const BlockAxis& axis : block.axes) bindings.emplace_back(axis.axis.var, axis.binding);
  if (block.predicate.empty()) return access_block(block, bindings);
  const Ranges outside = all_;
  // Indices are looked at in their simplest form: so are limits.
  for (const Conjunct& conjunct : block.predicate) {
    if (!conjunct.is_neutral) all_.set_limit(simplify(conjunct.value, outside), conjunct.bound - 1);
  }
  access_block(block, bindings);
  all_ = outside;
}

void RegionFinder::access_block(const Block& block, const Substitution& bindings) {
  reads_of(block.value, bindings);
  // A reduction that goes on reads what it writes.
  const bool touches = wants(Access::write) || (wants(Access::read) && block.reduction != Reduction::none);
  if (block.output == tensor_ && touches) access(block.output_index, bindings);
}

void RegionFinder::visit(const Stmt& stmt) {
  if (const For* loop = as<For>(stmt)) {
    const int64_t extent = largest_extent(*loop, all_);
    if (extent > 0) {
      all_.set_extent(loop->var, extent);
      moving_.set_extent(loop->var, extent);
    }
    visit(loop->body);
    all_.forget(loop->var);
    moving_.forget(loop->var);
  } else if (const Block* block = as<Block>(stmt)) {
    visit_block(*block);
  } else if (const Seq* seq = as<Seq>(stmt)) {
    for (const Stmt& child : seq->statements) visit(child);
  } else if (const Alloc* alloc = as<Alloc>(stmt)) {
    visit(alloc->body);
  } else if (const If* branch = as<If>(stmt)) {
    visit(branch->body);
  } else if (const Store* store = as<Store>(stmt)) {
    reads_of(store->value, {});
    if (store->tensor == tensor_ && wants(Access::write)) access(store->index, {});
  }
}

}  // namespace

bool depends_on_values(const Affine& sum) {
  return std::ranges::any_of(sum.terms(), [](const Affine::Term& term) {
    if (term.atom->kind == AtomKind::variable) return false;
    return term.atom->kind == AtomKind::opaque || depends_on_values(term.atom->operand);
  });
}

std::optional<BoxSide> side_of(const Affine& value, const Ranges& moving, const Ranges& fixed) {
  Ranges all = fixed;
  std::vector<Var> vars;
  collect_vars(value, vars);
  for (const Var& var : vars) {
    if (const Interval* range = moving.find(var.atom().get())) all.set(var, *range);
  }
  return side_of_sum(simplify(value, all), moving);
}

bool reaches_all(const Affine& sum, const Ranges& ranges) {
  std::vector<std::pair<int64_t, int64_t>> steps;  // coefficient and how often it is added at most
  for (const Affine::Term& term : sum.terms()) {
    const Interval* range = term.atom->kind == AtomKind::variable ? ranges.find(term.atom.get()) : nullptr;
    if (range == nullptr) return false;
    steps.emplace_back(std::abs(term.coefficient), range->hi - range->lo);
  }
  std::ranges::sort(steps);
  int64_t span = 0;
  for (const auto& [coefficient, most] : steps) {
    if (coefficient > span + 1) return false;
    span += coefficient * most;
  }
  return true;
}

std::optional<Box> region(const Stmt& stmt, const Tensor& tensor, Access access, const Ranges& fixed) {
  RegionFinder finder(tensor, access, fixed);
  finder.visit(stmt);
  return finder.box();
}

}  // namespace lathe
