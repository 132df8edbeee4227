#include "expr/magnitude.h"

#include <algorithm>
#include <cmath>

namespace lathe {

double magnitude(const Affine& a, const Ranges& ranges) {
  double sum = std::abs(static_cast<double>(a.constant()));
  for (const Affine::Term& term : a.terms()) {
    const AtomNode& atom = *term.atom;
    double value = kAssumedMagnitude;
    if (atom.kind == AtomKind::variable) {
      const Interval* range = ranges.find(&atom);
      if (range != nullptr)
        value = static_cast<double>(std::max(std::abs(range->lo), std::abs(range->hi) + 1));
    } else if (atom.kind == AtomKind::floor_div) {
      value = magnitude(atom.operand, ranges) / static_cast<double>(atom.divisor) + 1;
    } else if (atom.kind == AtomKind::modulo) {
      value = static_cast<double>(atom.divisor);
    }
    sum += value * std::abs(static_cast<double>(term.coefficient));
  }
  return sum;
}

}  // namespace lathe
