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
  std::vector<const Digit*> users;
  for (const Digit& digit : digits_) {
    if (Affine(digit.atom).uses(var)) users.push_back(&digit);
  }
  if (users.size() == 1 && users[0]->atom == var.atom()) return users[0]->value;
  if (users.size() != 2) return std::nullopt;
  const auto is_part = [&](const Digit& digit, AtomKind kind) {
    return digit.atom->kind == kind && digit.atom->operand == Affine(var);
  };
  const size_t high = is_part(*users[0], AtomKind::floor_div) ? 0 : 1;
  const Digit& quotient = *users[high];
  const Digit& remainder = *users[1 - high];
  if (!is_part(quotient, AtomKind::floor_div) || !is_part(remainder, AtomKind::modulo)) return std::nullopt;
  const int64_t divisor = quotient.atom->divisor;
  if (remainder.atom->divisor != divisor) return std::nullopt;
  return quotient.value * divisor + remainder.value;
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
