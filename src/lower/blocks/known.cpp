#include "lower/blocks/known.h"

#include <algorithm>
#include <cstdlib>

#include "loop/walk.h"

namespace lathe {

void Known::enter(const For& loop) {
  const int64_t extent = largest_extent(loop, ranges_);
  if (extent > 0) ranges_.set_extent(loop.var, extent);
  for (const Affine& limit : loop.extents) {
    if (!limit.is_constant()) facts_.push_back({Affine(loop.var) - limit, -1});
  }
}

void Known::assume(const Conjunct& conjunct) {
  if (conjunct.tail == Tail::pad) return;
  const auto terms = conjunct.value.terms();
  const bool single = terms.size() == 1 && std::abs(terms[0].coefficient) == 1;
  const Interval* range = single ? ranges_.find(terms[0].atom.get()) : nullptr;
  if (range == nullptr) {
    facts_.push_back({conjunct.value, conjunct.bound - 1});
    return;
  }
  // v + k < bound or -v + k < bound: the range itself shrinks. An empty one means code that never runs.
  const int64_t limit = conjunct.bound - 1 - conjunct.value.constant();
  Interval smaller = *range;
  if (terms[0].coefficient > 0) smaller.hi = std::max(smaller.lo, std::min(smaller.hi, limit));
  if (terms[0].coefficient < 0) smaller.lo = std::min(smaller.hi, std::max(smaller.lo, -limit));
  ranges_.set(Var(terms[0].atom), smaller);
}

bool Known::at_most(const Affine& value, int64_t limit) const {
  const std::optional<Interval> direct = bounds(value, ranges_);
  if (direct && direct->hi <= limit) return true;
  for (const Fact& fact : facts_) {
    for (const Affine::Term& term : fact.form.terms()) {
      int64_t coefficient = 0;
      for (const Affine::Term& other : value.terms()) {
        if (other == Affine::Term{term.atom, other.coefficient}) coefficient = other.coefficient;
      }
      if (coefficient == 0 || coefficient % term.coefficient != 0) continue;
      const int64_t factor = coefficient / term.coefficient;
      if (factor < 0) continue;
      const std::optional<Interval> rest = bounds(value - fact.form * factor, ranges_);
      if (rest && rest->hi + factor * fact.limit <= limit) return true;
    }
  }
  return false;
}

}  // namespace lathe
