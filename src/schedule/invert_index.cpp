#include "schedule/invert_index.h"

#include <algorithm>

namespace lathe {

bool IndexInverter::equate(const Affine& index, const Affine& value) {
  std::vector<Affine::Term> terms(index.terms().begin(), index.terms().end());
  std::ranges::sort(terms, {}, [](const Affine::Term& term) { return term.coefficient; });
  const Affine offset = value - index.constant();
  int64_t radix = 1;
  for (size_t i = 0; i < terms.size(); ++i) {
    const auto interval = bounds(Affine(terms[i].atom), domains_);
    if (terms[i].coefficient != radix || !interval || interval->lo != 0) return false;
    const int64_t count = interval->hi + 1;
    Affine digit = floor_div(offset, radix);
    if (i + 1 < terms.size()) digit = modulo(digit, count);
    digits_.push_back({terms[i].atom, std::move(digit)});
    radix *= count;
  }
  return true;
}

bool IndexInverter::constrains(const Var& var) const {
  return std::ranges::any_of(digits_, [&](const Digit& digit) { return Affine(digit.atom).uses(var); });
}

std::optional<Affine> IndexInverter::axis(const Var& var) const {
  std::vector<const Digit*> parts;
  for (const Digit& digit : digits_) {
    if (Affine(digit.atom).uses(var)) parts.push_back(&digit);
  }
  if (parts.empty()) return std::nullopt;
  // From the lowest: x mod a, (x div a) mod b, x div (a*b).
  Affine value;
  int64_t radix = 1;
  while (!parts.empty()) {
    const Affine rest = floor_div(Affine(var), radix);
    const bool is_last = parts.size() == 1;
    const auto next = std::ranges::find_if(parts, [&](const Digit* digit) {
      if (is_last) return Affine(digit->atom) == rest;
      return digit->atom->kind == AtomKind::modulo && digit->atom->operand == rest;
    });
    if (next == parts.end()) return std::nullopt;
    value += (*next)->value * radix;
    radix *= (*next)->atom->divisor;
    parts.erase(next);
  }
  return value;
}

bool is_invertible(const std::vector<Affine>& index, std::span<const Axis> axes) {
  Ranges domains;
  for (const Axis& axis : axes) domains.set_extent(axis.var, axis.extent);
  IndexInverter inverter(domains);
  const Affine place(Var("place"));
  if (!std::ranges::all_of(index, [&](const Affine& at) { return inverter.equate(at, place); })) return false;
  return std::ranges::all_of(axes, [&](const Axis& axis) {
    return !inverter.constrains(axis.var) || inverter.axis(axis.var).has_value();
  });
}

}  // namespace lathe
