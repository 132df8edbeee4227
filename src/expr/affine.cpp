#include "expr/affine.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/check.h"
#include "expr/compare.h"
#include "expr/expr.h"
#include "expr/print.h"
#include "expr/walk.h"

namespace lathe {
namespace {

// Orders variables by creation. It is never printed, so results do not depend on other threads.
std::atomic<uint64_t> next_variable_id{1};

int64_t floor_quotient(int64_t a, int64_t b) { return a / b - ((a % b != 0) && (a < 0)); }
int64_t floor_remainder(int64_t a, int64_t b) { return a - floor_quotient(a, b) * b; }

int compare_atoms(const AtomNode& a, const AtomNode& b) {
  if (&a == &b) return 0;
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  switch (a.kind) {
    case AtomKind::variable: return a.id < b.id ? -1 : 1;
    case AtomKind::floor_div:
    case AtomKind::modulo:
      if (a.divisor != b.divisor) return a.divisor < b.divisor ? -1 : 1;
      return compare(a.operand, b.operand);
    case AtomKind::opaque: return compare(*a.opaque, *b.opaque);
  }
  return 0;
}

bool equal_atoms(const Atom& a, const Atom& b) { return a == b || compare_atoms(*a, *b) == 0; }

Atom make_division(AtomKind kind, Affine operand, int64_t divisor) {
  AtomNode node;
  node.kind = kind;
  node.operand = std::move(operand);
  node.divisor = divisor;
  return std::make_shared<const AtomNode>(std::move(node));
}

// The single atom with coefficient 1 and no constant, if `a` is that.
const AtomNode* lone_atom(const Affine& a) {
  if (a.constant() != 0 || a.terms().size() != 1 || a.terms()[0].coefficient != 1) return nullptr;
  return a.terms()[0].atom.get();
}

// Splits a into (part divisible by divisor) / divisor and the rest.
std::pair<Affine, Affine> split_multiples(const Affine& a, int64_t divisor) {
  Affine quotient(floor_quotient(a.constant(), divisor));
  Affine rest(floor_remainder(a.constant(), divisor));
  for (const Affine::Term& term : a.terms()) {
    if (term.coefficient % divisor == 0) {
      quotient += Affine(term.atom, term.coefficient / divisor);
    } else {
      rest += Affine(term.atom, term.coefficient);
    }
  }
  return {std::move(quotient), std::move(rest)};
}

bool lies_within(const Affine& a, int64_t lo, int64_t hi, const Ranges& ranges) {
  const std::optional<Interval> interval = bounds(a, ranges);
  return interval && interval->lo >= lo && interval->hi <= hi;
}

// a = factor * whole + rest with 0 <= rest < factor: a div (factor * d) = whole div d, and a mod (factor * d)
// = factor * (whole mod d) + rest.
struct Multiples {
  int64_t factor = 1;
  Affine whole;
  Affine rest;
};

// For the largest factor > 1 that the divisor has in common with a coefficient.
std::optional<Multiples> multiples_in(const Affine& a, int64_t divisor, const Ranges& ranges) {
  std::optional<Multiples> best;
  for (const Affine::Term& term : a.terms()) {
    const int64_t factor = std::gcd(term.coefficient, divisor);
    if (factor <= (best ? best->factor : 1)) continue;
    auto [whole, rest] = split_multiples(a, factor);
    if (lies_within(rest, 0, factor - 1, ranges)) best = Multiples{factor, std::move(whole), std::move(rest)};
  }
  return best;
}

}  // namespace

Var::Var(std::string name) {
  AtomNode node;
  node.id = next_variable_id.fetch_add(1, std::memory_order_relaxed);
  node.name = std::move(name);
  atom_ = std::make_shared<const AtomNode>(std::move(node));
}

const std::string& Var::name() const { return atom_->name; }

bool Affine::Term::operator==(const Term& other) const {
  return coefficient == other.coefficient && equal_atoms(atom, other.atom);
}

Affine::Affine(Atom atom, int64_t coefficient) {
  if (coefficient != 0) terms_.push_back({std::move(atom), coefficient});
}

std::optional<Var> Affine::as_var() const {
  const AtomNode* atom = lone_atom(*this);
  if (atom == nullptr || atom->kind != AtomKind::variable) return std::nullopt;
  return Var(terms_[0].atom);
}

int64_t Affine::coefficient(const Var& var) const {
  for (const Term& term : terms_) {
    if (term.atom == var.atom()) return term.coefficient;
  }
  return 0;
}

bool Affine::uses(const Var& var) const { return coefficient(var) != 0 || uses_inside_atom(var); }

bool Affine::uses_inside_atom(const Var& var) const {
  return std::ranges::any_of(terms_, [&](const Term& term) {
    switch (term.atom->kind) {
      case AtomKind::variable: return false;
      case AtomKind::floor_div:
      case AtomKind::modulo: return term.atom->operand.uses(var);
      case AtomKind::opaque: return lathe::uses(*term.atom->opaque, var);
    }
    return false;
  });
}

Affine& Affine::operator+=(const Affine& other) {
  constant_ += other.constant_;
  if (other.terms_.empty()) return *this;
  if (terms_.empty()) {
    terms_ = other.terms_;
    return *this;
  }
  std::vector<Term> merged;
  merged.reserve(terms_.size() + other.terms_.size());
  size_t i = 0;
  size_t j = 0;
  while (i < terms_.size() && j < other.terms_.size()) {
    const int order = compare_atoms(*terms_[i].atom, *other.terms_[j].atom);
    if (order < 0) {
      merged.push_back(std::move(terms_[i++]));
    } else if (order > 0) {
      merged.push_back(other.terms_[j++]);
    } else {
      const int64_t coefficient = terms_[i].coefficient + other.terms_[j].coefficient;
      if (coefficient != 0) merged.push_back({std::move(terms_[i].atom), coefficient});
      ++i;
      ++j;
    }
  }
  for (; i < terms_.size(); ++i) merged.push_back(std::move(terms_[i]));
  for (; j < other.terms_.size(); ++j) merged.push_back(other.terms_[j]);
  terms_ = std::move(merged);
  return *this;
}

Affine& Affine::operator*=(int64_t factor) {
  if (factor == 0) {
    terms_.clear();
    constant_ = 0;
    return *this;
  }
  constant_ *= factor;
  for (Term& term : terms_) term.coefficient *= factor;
  return *this;
}

Affine operator-(Affine a, const Affine& b) { return a += b * -1; }

bool Affine::operator==(const Affine& other) const {
  return constant_ == other.constant_ && terms_ == other.terms_;
}

Affine floor_div(const Affine& a, int64_t divisor, const Ranges& ranges) {
  LATHE_CHECK(divisor > 0);
  if (divisor == 1) return a;
  auto [quotient, rest] = split_multiples(a, divisor);
  if (rest.is_constant() || lies_within(rest, 0, divisor - 1, ranges)) return quotient;
  // (x div c) div d = x div (c*d)
  const AtomNode* atom = lone_atom(rest);
  const bool is_division = atom != nullptr && atom->kind == AtomKind::floor_div;
  if (is_division && atom->divisor <= INT64_MAX / divisor) {
    return quotient + floor_div(atom->operand, atom->divisor * divisor, ranges);
  }
  // (x mod (c*k)) div c = (x div c) mod k
  if (atom != nullptr && atom->kind == AtomKind::modulo && atom->divisor % divisor == 0) {
    return quotient + modulo(floor_div(atom->operand, divisor, ranges), atom->divisor / divisor, ranges);
  }
  if (const auto interval = bounds(rest, ranges)) {
    const int64_t lo = floor_quotient(interval->lo, divisor);
    if (lo == floor_quotient(interval->hi, divisor)) return quotient + lo;
  }
  if (const auto multiples = multiples_in(rest, divisor, ranges))
    return quotient + floor_div(multiples->whole, divisor / multiples->factor, ranges);
  return quotient + Affine(make_division(AtomKind::floor_div, std::move(rest), divisor));
}

Affine modulo(const Affine& a, int64_t divisor, const Ranges& ranges) {
  LATHE_CHECK(divisor > 0);
  if (divisor == 1) return 0;
  Affine rest = split_multiples(a, divisor).second;
  if (rest.is_constant() || lies_within(rest, 0, divisor - 1, ranges)) return rest;
  // (x mod (c*k)) mod c = x mod c
  const AtomNode* atom = lone_atom(rest);
  if (atom != nullptr && atom->kind == AtomKind::modulo && atom->divisor % divisor == 0) {
    return modulo(atom->operand, divisor, ranges);
  }
  if (const auto interval = bounds(rest, ranges)) {
    const int64_t quotient = floor_quotient(interval->lo, divisor);
    if (quotient == floor_quotient(interval->hi, divisor)) return rest - quotient * divisor;
  }
  if (const auto multiples = multiples_in(rest, divisor, ranges)) {
    const int64_t factor = multiples->factor;
    return modulo(multiples->whole, divisor / factor, ranges) * factor + multiples->rest;
  }
  return Affine(make_division(AtomKind::modulo, std::move(rest), divisor));
}

Affine opaque(const Expr& value) {
  AtomNode node;
  node.kind = AtomKind::opaque;
  node.opaque = std::make_shared<const Expr>(value);
  return Affine(std::make_shared<const AtomNode>(std::move(node)));
}

std::optional<Interval> bounds(const Affine& a, const Ranges& ranges) {
  Interval sum{a.constant(), a.constant()};
  for (const Affine::Term& term : a.terms()) {
    const AtomNode& atom = *term.atom;
    Interval value;
    switch (atom.kind) {
      case AtomKind::variable: {
        const Interval* range = ranges.find(&atom);
        if (range == nullptr) return std::nullopt;
        value = *range;
        break;
      }
      case AtomKind::floor_div: {
        const auto operand = bounds(atom.operand, ranges);
        if (!operand) return std::nullopt;
        value = {floor_quotient(operand->lo, atom.divisor), floor_quotient(operand->hi, atom.divisor)};
        break;
      }
      case AtomKind::modulo: value = {0, atom.divisor - 1}; break;
      case AtomKind::opaque: return std::nullopt;
    }
    const int64_t c = term.coefficient;
    sum.lo += c > 0 ? c * value.lo : c * value.hi;
    sum.hi += c > 0 ? c * value.hi : c * value.lo;
  }
  if (ranges.has_limits()) sum.hi = std::min(sum.hi, ranges.limit_of(a));
  return sum;
}

Affine substitute(const Affine& a, const Substitution& substitution) {
  Affine result(a.constant_);
  for (const Affine::Term& term : a.terms_) {
    const AtomNode& atom = *term.atom;
    switch (atom.kind) {
      case AtomKind::variable: {
        const Affine* value = nullptr;
        for (const auto& [var, replacement] : substitution) {
          if (var.atom() == term.atom) value = &replacement;
        }
        result += value != nullptr ? *value * term.coefficient : Affine(term.atom, term.coefficient);
        break;
      }
      case AtomKind::floor_div:
        result += floor_div(substitute(atom.operand, substitution), atom.divisor) * term.coefficient;
        break;
      case AtomKind::modulo:
        result += modulo(substitute(atom.operand, substitution), atom.divisor) * term.coefficient;
        break;
      case AtomKind::opaque:
        result += to_affine(substitute(*atom.opaque, substitution)) * term.coefficient;
        break;
    }
  }
  return result;
}

namespace {

// (x div c + y) div d written as (x + c*y) div (c*d), if `a` has that form and no number grows too large.
std::optional<Affine> quotient_of_sum(const Affine& a, int64_t divisor, const Ranges& ranges) {
  for (const Affine::Term& term : a.terms()) {
    if (term.atom->kind != AtomKind::floor_div || term.coefficient != 1) continue;
    const int64_t inner = term.atom->divisor;
    const int64_t most = INT64_MAX / 4 / inner;
    const auto fits = [&](int64_t number) { return -most <= number && number <= most; };
    const bool all_fit = fits(divisor) && fits(a.constant()) &&
                         std::ranges::all_of(a.terms(), fits, &Affine::Term::coefficient);
    if (!all_fit) continue;
    return floor_div(term.atom->operand + (a - Affine(term.atom)) * inner, inner * divisor, ranges);
  }
  return std::nullopt;
}

// x div d for x = (y div c) mod k, written as (y mod c*k) div (c*d), if x has that form.
std::optional<Affine> quotient_of_digit(const Affine& x, int64_t divisor, const Ranges& ranges) {
  const AtomNode* digit = lone_atom(x);
  if (digit == nullptr || digit->kind != AtomKind::modulo) return std::nullopt;
  const AtomNode* inner = lone_atom(digit->operand);
  if (inner == nullptr || inner->kind != AtomKind::floor_div) return std::nullopt;
  const int64_t most = INT64_MAX / inner->divisor;
  if (digit->divisor > most || divisor > most) return std::nullopt;
  const Affine lower = modulo(inner->operand, inner->divisor * digit->divisor, ranges);
  return floor_div(lower, inner->divisor * divisor, ranges);
}

// Whether `quotient` is x div d, as it stands or with a division inside x taken out of it.
bool is_quotient(const Affine& quotient, const Affine& x, int64_t divisor, const Ranges& ranges) {
  if (floor_div(x, divisor, ranges) == quotient) return true;
  if (const auto of_digit = quotient_of_digit(x, divisor, ranges); of_digit && *of_digit == quotient)
    return true;
  const auto of_sum = quotient_of_sum(x, divisor, ranges);
  return of_sum && *of_sum == quotient;
}

// What c*d*upper + c*(x mod d) is where `upper` is all digits of x above, x div d, or the next one,
// (x div d) mod k: c*x or c*(x mod d*k).
std::optional<Affine> joined_digits(const Atom& upper, const Affine& x, int64_t divisor, int64_t c,
                                    const Ranges& ranges) {
  if (is_quotient(Affine(upper), x, divisor, ranges)) return x * c;
  if (upper->kind != AtomKind::modulo) return std::nullopt;
  const int64_t most = INT64_MAX / upper->divisor / divisor;  // of |c|: c*d*k must fit
  const bool fits = -most <= c && c <= most;
  if (!fits || !is_quotient(upper->operand, x, divisor, ranges)) return std::nullopt;
  return modulo(x, divisor * upper->divisor, ranges) * c;
}

// Joins two neighbouring digits, as joined_digits does; true if something was joined.
bool join_division_and_modulo(Affine& a, const Ranges& ranges) {
  for (const Affine::Term& mod_term : a.terms()) {
    if (mod_term.atom->kind != AtomKind::modulo) continue;
    const int64_t divisor = mod_term.atom->divisor;
    const int64_t c = mod_term.coefficient;
    const Affine& x = mod_term.atom->operand;
    for (const Affine::Term& div_term : a.terms()) {
      const bool fits = div_term.coefficient % divisor == 0 && div_term.coefficient / divisor == c;
      if (!fits) continue;
      const std::optional<Affine> joined = joined_digits(div_term.atom, x, divisor, c, ranges);
      if (!joined) continue;
      a = a - Affine(mod_term.atom, c) - Affine(div_term.atom, div_term.coefficient) + *joined;
      return true;
    }
  }
  return false;
}

}  // namespace

Affine simplify(const Affine& a, const Ranges& ranges) {
  Affine result(a.constant_);
  for (const Affine::Term& term : a.terms_) {
    const AtomNode& atom = *term.atom;
    switch (atom.kind) {
      case AtomKind::variable: {
        const Interval* range = ranges.find(&atom);
        const bool fixed = range != nullptr && range->lo == range->hi;
        result += fixed ? Affine(range->lo * term.coefficient) : Affine(term.atom, term.coefficient);
        break;
      }
      case AtomKind::floor_div:
        result += floor_div(simplify(atom.operand, ranges), atom.divisor, ranges) * term.coefficient;
        break;
      case AtomKind::modulo:
        result += modulo(simplify(atom.operand, ranges), atom.divisor, ranges) * term.coefficient;
        break;
      case AtomKind::opaque:
        result += to_affine(simplify_indices(*atom.opaque, ranges)) * term.coefficient;
        break;
    }
  }
  while (join_division_and_modulo(result, ranges)) {
  }
  return result;
}

void collect_vars(const Affine& a, std::vector<Var>& vars) {
  for (const Affine::Term& term : a.terms()) {
    switch (term.atom->kind) {
      case AtomKind::variable: {
        const Var var(term.atom);
        if (std::ranges::find(vars, var) == vars.end()) vars.push_back(var);
        break;
      }
      case AtomKind::floor_div:
      case AtomKind::modulo: collect_vars(term.atom->operand, vars); break;
      case AtomKind::opaque: collect_vars(*term.atom->opaque, vars); break;
    }
  }
}

namespace {

std::string to_string(const AtomNode& atom_node) {
  const auto operand = [&] {
    const std::string text = to_string(atom_node.operand);
    const AtomNode* atom = lone_atom(atom_node.operand);
    const bool simple =
        atom != nullptr && (atom->kind == AtomKind::variable || atom->kind == AtomKind::opaque);
    return simple ? text : "(" + text + ")";
  };
  switch (atom_node.kind) {
    case AtomKind::variable: return atom_node.name;
    case AtomKind::floor_div: return fmt::format("{}/{}", operand(), atom_node.divisor);
    case AtomKind::modulo: return fmt::format("{}%{}", operand(), atom_node.divisor);
    case AtomKind::opaque: return to_factor(*atom_node.opaque);
  }
  return {};
}

}  // namespace

std::string to_string(const Affine& a) {
  std::string text;
  const auto append = [&](int64_t coefficient, std::string factor, bool is_division) {
    const auto bits = static_cast<uint64_t>(coefficient);
    const uint64_t magnitude = coefficient < 0 ? 0 - bits : bits;
    // 2*(i/3) and -(i/3) are neither (2*i)/3 nor (-i)/3.
    if (is_division && (magnitude != 1 || (coefficient < 0 && text.empty()))) factor = "(" + factor + ")";
    if (text.empty()) {
      text += coefficient < 0 ? "-" : "";
    } else {
      text += coefficient < 0 ? " - " : " + ";
    }
    if (factor.empty()) {
      text += fmt::format("{}", magnitude);
    } else if (magnitude != 1) {
      text += fmt::format("{}*{}", magnitude, factor);
    } else {
      text += factor;
    }
  };
  for (const Affine::Term& term : a.terms()) {
    const AtomKind kind = term.atom->kind;
    append(term.coefficient, to_string(*term.atom), kind == AtomKind::floor_div || kind == AtomKind::modulo);
  }
  if (a.constant() != 0 || text.empty()) append(a.constant(), "", false);
  return text;
}

int compare(const Affine& a, const Affine& b) {
  const size_t shared = std::min(a.terms().size(), b.terms().size());
  for (size_t i = 0; i < shared; ++i) {
    const int order = compare_atoms(*a.terms()[i].atom, *b.terms()[i].atom);
    if (order != 0) return order;
    const int64_t x = a.terms()[i].coefficient;
    const int64_t y = b.terms()[i].coefficient;
    if (x != y) return x < y ? -1 : 1;
  }
  if (a.terms().size() != b.terms().size()) return a.terms().size() < b.terms().size() ? -1 : 1;
  if (a.constant() != b.constant()) return a.constant() < b.constant() ? -1 : 1;
  return 0;
}

}  // namespace lathe
