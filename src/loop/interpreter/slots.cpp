#include "loop/interpreter/slots.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "expr/expr.h"

namespace lathe::interpreter {
namespace {

constexpr int kLocal = std::numeric_limits<int>::max();
// Beyond this a range is not followed further: the value may be anything.
constexpr int64_t kFar = int64_t{1} << 61;
constexpr Interval kAnything{-kFar, kFar};

bool is_anything(Interval range) { return range.lo <= -kFar || range.hi >= kFar; }

// Malformed programs may overflow; the arithmetic of slots wraps around, as does this.
int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrapping_multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

Interval scaled_sum(Interval a, Interval b, int64_t factor) {
  if (is_anything(a) || is_anything(b)) return kAnything;
  const auto wide = [](int64_t x) { return static_cast<__int128>(x); };
  const __int128 p = wide(b.lo) * factor;
  const __int128 q = wide(b.hi) * factor;
  const __int128 lo = wide(a.lo) + std::min(p, q);
  const __int128 hi = wide(a.hi) + std::max(p, q);
  if (lo <= -kFar || hi >= kFar) return kAnything;
  return {static_cast<int64_t>(lo), static_cast<int64_t>(hi)};
}

int64_t quotient_below(int64_t a, int64_t b) { return a / b - ((a % b != 0) && (a < 0)); }

Interval divided_range(Interval a, int64_t divisor, SlotOpKind kind) {
  if (kind == SlotOpKind::remainder) return {0, divisor - 1};
  if (is_anything(a)) return kAnything;
  return {quotient_below(a.lo, divisor), quotient_below(a.hi, divisor)};
}

}  // namespace

void Linear::add(const Linear& other, int64_t factor) {
  if (factor == 0) return;
  constant = wrapping_add(constant, wrapping_multiply(other.constant, factor));
  for (const auto& [slot, coefficient] : other.terms) {
    const auto same = std::ranges::find(terms, slot, &std::pair<int, int64_t>::first);
    const int64_t scaled = wrapping_multiply(coefficient, factor);
    if (same == terms.end()) {
      terms.emplace_back(slot, scaled);
    } else {
      same->second = wrapping_add(same->second, scaled);
    }
  }
  std::erase_if(terms, [](const auto& term) { return term.second == 0; });
}

SlotPlan::SlotPlan() {
  levels_.emplace_back();
  add_slot(0, {0, 0});
}

int SlotPlan::add_slot(int level, Interval range) {
  slots_.push_back({level, range, range});
  return static_cast<int>(slots_.size()) - 1;
}

int SlotPlan::open_loop(const Var& var, int64_t largest, std::vector<SlotOp>* operations) {
  levels_.push_back({operations, {}});
  const int slot = add_slot(static_cast<int>(levels_.size()) - 1, {0, std::max<int64_t>(largest, 0)});
  bind(var, Linear{0, {{slot, 1}}});
  return slot;
}

void SlotPlan::close_loop(const Var& var) {
  LATHE_CHECK(!bindings_.empty() && bindings_.back().first == var.atom().get());
  bindings_.pop_back();
  levels_.pop_back();
}

int SlotPlan::local_slot() { return add_slot(kLocal, kAnything); }

int SlotPlan::operation(SlotOp op, int level, Interval range) {
  if (level == kLocal) {
    op.target = add_slot(level, range);
    on_local(op);
    return op.target;
  }
  Level& where = levels_[static_cast<size_t>(level)];
  const auto [known, is_new] = where.known.try_emplace(Key{op.kind, op.a, op.b, op.constant, op.factor}, 0);
  if (is_new) {
    op.target = add_slot(level, range);
    known->second = op.target;
    where.operations->push_back(op);
  }
  return known->second;
}

Linear SlotPlan::linear(const Affine& a) {
  Linear result{a.constant(), {}};
  for (const Affine::Term& term : a.terms()) {
    const AtomNode& atom = *term.atom;
    switch (atom.kind) {
      case AtomKind::variable: {
        const auto known = std::find_if(bindings_.rbegin(), bindings_.rend(),
                                        [&](const auto& binding) { return binding.first == &atom; });
        if (known != bindings_.rend()) {
          result.add(known->second, term.coefficient);
        } else if (unknown_ == nullptr) {
          unknown_ = &atom;
        }
        break;
      }
      case AtomKind::floor_div:
        result.add(divided(linear(atom.operand), atom.divisor, SlotOpKind::divide), term.coefficient);
        break;
      case AtomKind::modulo:
        result.add(divided(linear(atom.operand), atom.divisor, SlotOpKind::remainder), term.coefficient);
        break;
      case AtomKind::opaque: result.add(Linear{0, {{on_opaque(*atom.opaque), 1}}}, term.coefficient); break;
    }
  }
  return result;
}

Linear SlotPlan::divided(const Linear& a, int64_t divisor, SlotOpKind kind) {
  if (divisor == 1) return kind == SlotOpKind::divide ? a : Linear{};
  const SlotValue operand = value(a);
  const Interval operand_range =
      scaled_sum(slots_[static_cast<size_t>(operand.slot)].range, {operand.constant, operand.constant}, 1);
  const Interval range = divided_range(operand_range, divisor, kind);
  const SlotOp op{kind, 0, operand.slot, 0, operand.constant, divisor};
  if (operand.slot == 0) {
    const int64_t quotient = quotient_below(operand.constant, divisor);
    return {kind == SlotOpKind::divide ? quotient : operand.constant - quotient * divisor, {}};
  }
  return Linear{0, {{operation(op, level_of(operand.slot), range), 1}}};
}

SlotValue SlotPlan::value(const Linear& linear) {
  std::vector<std::pair<int, int64_t>> terms = linear.terms;
  std::ranges::sort(terms, {}, [&](const auto& term) { return std::pair(level_of(term.first), term.first); });
  int sum = 0;
  for (const auto& [slot, factor] : terms) {
    if (sum == 0 && factor == 1) {
      sum = slot;
      continue;
    }
    const auto i = [](int s) { return static_cast<size_t>(s); };
    const Interval range = scaled_sum(slots_[i(sum)].range, slots_[i(slot)].range, factor);
    sum = operation({SlotOpKind::add_scaled, 0, sum, slot, 0, factor}, level_of(slot), range);
  }
  return {sum, linear.constant};
}

Interval SlotPlan::range(const SlotValue& value) const {
  return scaled_sum(slots_[static_cast<size_t>(value.slot)].narrowed, {value.constant, value.constant}, 1);
}

Interval SlotPlan::narrow(const SlotValue& value, int64_t bound) {
  Interval& range = slots_[static_cast<size_t>(value.slot)].narrowed;
  const Interval before = range;
  const __int128 largest = static_cast<__int128>(bound) - 1 - value.constant;
  if (!is_anything(range) && largest < range.hi && largest > -kFar) range.hi = static_cast<int64_t>(largest);
  return before;
}

}  // namespace lathe::interpreter
