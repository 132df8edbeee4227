#include "analysis/vector_part.h"

#include <algorithm>
#include <set>

#include "expr/walk.h"

namespace lathe {
namespace {

// The axis as quotient * divisor + remainder.
struct Divided {
  Var quotient{"q"};
  Var remainder{"r"};
  Ranges ranges;
  Substitution value;

  Divided(const Compute& compute, const VectorPart& part) {
    const Axis& axis = compute.axes[part.axis];
    for (const Axis& other : compute.axes) ranges.set_extent(other.var, other.extent);
    ranges.set_extent(quotient, axis.extent / part.divisor);
    ranges.set_extent(remainder, part.divisor);
    value = {{axis.var, Affine(quotient) * part.divisor + Affine(remainder)}};
  }
};

// What the reads of a compute divide this axis by.
std::set<int64_t> divisors_of(const Compute& compute, const Axis& axis) {
  std::set<int64_t> divisors = {1};
  for (const Load* load : loads_of(compute.body)) {
    for (const Affine& index : load->index) {
      for (const Affine::Term& term : index.terms()) {
        const bool divides = term.atom->kind == AtomKind::floor_div || term.atom->kind == AtomKind::modulo;
        if (divides && term.atom->operand.uses(axis.var)) divisors.insert(term.atom->divisor);
      }
    }
  }
  return divisors;
}

}  // namespace

std::optional<IndexPart> index_part(const Affine& index) {
  if (const auto var = index.as_var()) return IndexPart{*var};
  if (index.terms().size() != 1 || index.terms()[0].coefficient != 1 || index.constant() != 0)
    return std::nullopt;
  const AtomNode& atom = *index.terms()[0].atom;
  if (atom.kind != AtomKind::floor_div && atom.kind != AtomKind::modulo) return std::nullopt;
  const auto var = atom.operand.as_var();
  if (!var) return std::nullopt;
  return IndexPart{*var, atom.kind, atom.divisor};
}

std::optional<VectorStep> vector_step(const Compute& compute, const Load& read, const VectorPart& part) {
  const Divided divided(compute, part);
  VectorStep step;
  for (size_t dim = 0; dim < read.index.size(); ++dim) {
    const Affine index = simplify(substitute(read.index[dim], divided.value), divided.ranges);
    if (!index.uses(divided.quotient)) continue;
    const int64_t divisor = index.coefficient(divided.quotient);
    const Affine rest = index - Affine(divided.quotient) * divisor;
    if (step.dim || divisor < 1 || rest.uses(divided.quotient)) return std::nullopt;
    if (divisor > 1) {
      const auto remainders = bounds(rest, divided.ranges);
      const bool stays = remainders && remainders->lo >= 0 && remainders->hi < divisor;
      if (!stays || read.tensor->shape[dim] % divisor != 0) return std::nullopt;
    }
    step = {dim, divisor};
  }
  return step;
}

std::vector<VectorPart> vector_parts(const Compute& compute) {
  std::vector<VectorPart> parts;
  const std::vector<const Load*> loads = loads_of(compute.body);
  for (size_t a = 0; a < compute.spatial_count(); ++a) {
    for (const int64_t divisor : divisors_of(compute, compute.axes[a])) {
      const VectorPart part{a, divisor};
      if (compute.axes[a].extent % divisor != 0 || compute.axes[a].extent / divisor < 2) continue;
      const bool steps = std::ranges::all_of(loads, [&](const Load* load) {
        return !load->tensor->literal.empty() || vector_step(compute, *load, part);
      });
      if (steps) parts.push_back(part);
    }
  }
  return parts;
}

Layout with_quotients_last(const Tensor& tensor, size_t dim, int64_t divisor) {
  std::vector<int> dims;
  for (size_t d = 0; d < tensor->shape.size(); ++d) {
    if (d != dim) dims.push_back(static_cast<int>(d));
  }
  dims.push_back(static_cast<int>(dim));
  Layout layout = Layout::permuted(dims);
  if (divisor == 1) return layout;
  layout.dims.back() = {static_cast<int>(dim), 1, divisor, 0};
  layout.dims.push_back({static_cast<int>(dim), divisor, 0, 0});
  return layout;
}

}  // namespace lathe
