#include "expr/reads.h"

#include <algorithm>

namespace lathe {
namespace {

bool is_integer(const Expr& e) { return lathe::is_integer(e.type().dtype); }

// What `a < b` (strict) or `a <= b` says, if it holds, or what its failure says.
Affine ordering_fact(const Affine& a, const Affine& b, bool strict, bool holds) {
  return holds ? b - a - Affine(strict ? 1 : 0) : a - b - Affine(strict ? 0 : 1);
}

// Appends what a condition's outcome says of integers.
void assume(const Expr& condition, bool holds, std::vector<Affine>& facts) {
  if (const Unary* unary = condition.as<Unary>()) {
    if (unary->op == UnaryOp::logical_not) assume(unary->operand, !holds, facts);
    return;
  }
  const Binary* binary = condition.as<Binary>();
  if (binary == nullptr) return;
  if (binary->op == (holds ? BinaryOp::logical_and : BinaryOp::logical_or)) {
    assume(binary->a, holds, facts);
    assume(binary->b, holds, facts);
    return;
  }
  if (!is_integer(binary->a) || !is_integer(binary->b)) return;
  const Affine a = to_affine(binary->a);
  const Affine b = to_affine(binary->b);
  if (binary->op == BinaryOp::less || binary->op == BinaryOp::less_equal) {
    facts.push_back(ordering_fact(a, b, binary->op == BinaryOp::less, holds));
  } else if (binary->op == (holds ? BinaryOp::equal : BinaryOp::not_equal)) {
    facts.push_back(a - b);
    facts.push_back(b - a);
  }
}

struct Collector {
  std::vector<Read>& reads;
  std::vector<Affine>& facts;
  int selects = 0;  // around what is collected

  void collect(const Expr& e) { std::visit(*this, e->node); }
  void collect(const Affine& a) {
    for (const Affine::Term& term : a.terms()) {
      switch (term.atom->kind) {
        case AtomKind::variable: break;
        case AtomKind::floor_div:
        case AtomKind::modulo: collect(term.atom->operand); break;
        case AtomKind::opaque: collect(*term.atom->opaque); break;
      }
    }
  }

  void operator()(const Literal&) {}
  void operator()(const Index& e) { collect(e.value); }
  void operator()(const Load& e) {
    reads.push_back({&e, facts, selects > 0});
    for (const Affine& index : e.index) collect(index);
    if (e.mask.defined()) collect(e.mask);
  }
  void operator()(const Unary& e) { collect(e.operand); }
  void operator()(const Binary& e) {
    collect(e.a);
    collect(e.b);
  }
  void operator()(const Select& e) {
    collect(e.condition);
    const size_t known = facts.size();
    ++selects;
    for (const bool taken : {true, false}) {
      assume(e.condition, taken, facts);
      collect(taken ? e.if_true : e.if_false);
      facts.resize(known);
    }
    --selects;
  }
  void operator()(const Cast& e) { collect(e.operand); }
  void operator()(const BitCast& e) { collect(e.operand); }
  void operator()(const Broadcast& e) { collect(e.operand); }
  void operator()(const Ramp& e) { collect(e.base); }
  void operator()(const Call& e) {
    for (const Expr& operand : e.operands) collect(operand);
  }
};

int64_t floor_quotient(int64_t a, int64_t b) { return a / b - ((a % b != 0) && (a < 0)); }

std::optional<int64_t> divided(std::optional<int64_t> value, int64_t divisor) {
  return value ? std::optional(floor_quotient(*value, divisor)) : std::nullopt;
}

Reach reach_as_written(const Affine& index, const Ranges& ranges, std::span<const Affine> facts,
                       const ValueReach& values);

Reach reach_of_atom(const AtomNode& atom, const Ranges& ranges, std::span<const Affine> facts,
                    const ValueReach& values) {
  switch (atom.kind) {
    case AtomKind::variable: {
      const Interval* range = ranges.find(&atom);
      return range != nullptr ? Reach{range->lo, range->hi} : Reach{};
    }
    case AtomKind::floor_div: {
      const Reach operand = reach_as_written(atom.operand, ranges, facts, values);
      return {divided(operand.lo, atom.divisor), divided(operand.hi, atom.divisor)};
    }
    case AtomKind::modulo:
      return modulo_reach(reach_as_written(atom.operand, ranges, facts, values), atom.divisor);
    case AtomKind::opaque: return values ? values(*atom.opaque) : Reach{};
  }
  return {};
}

void add_scaled(std::optional<int64_t>& sum, std::optional<int64_t> value, int64_t factor) {
  if (sum && value) {
    *sum += *value * factor;
  } else {
    sum.reset();
  }
}

// The sum of the atoms' reaches; facts are used inside divisions only.
Reach sum_of_reaches(const Affine& a, const Ranges& ranges, std::span<const Affine> facts,
                     const ValueReach& values) {
  Reach sum{a.constant(), a.constant()};
  for (const Affine::Term& term : a.terms()) {
    const Reach atom = reach_of_atom(*term.atom, ranges, facts, values);
    const bool up = term.coefficient > 0;
    add_scaled(sum.lo, up ? atom.lo : atom.hi, term.coefficient);
    add_scaled(sum.hi, up ? atom.hi : atom.lo, term.coefficient);
  }
  return sum;
}

void narrow(Reach& reach, const Reach& other) {
  if (other.lo) reach.lo = reach.lo ? std::max(*reach.lo, *other.lo) : *other.lo;
  if (other.hi) reach.hi = reach.hi ? std::min(*reach.hi, *other.hi) : *other.hi;
}

Reach reach_as_written(const Affine& index, const Ranges& ranges, std::span<const Affine> facts,
                       const ValueReach& values) {
  Reach reach = sum_of_reaches(index, ranges, facts, values);
  for (const Affine& fact : facts) {
    // fact >= 0, hence index >= index - fact and index <= index + fact.
    const Reach below = sum_of_reaches(index - fact, ranges, {}, values);
    const Reach above = sum_of_reaches(index + fact, ranges, {}, values);
    narrow(reach, {below.lo, above.hi});
  }
  return reach;
}

}  // namespace

std::vector<Read> reads_of(const Expr& body) {
  std::vector<Read> reads;
  std::vector<Affine> facts;
  Collector{reads, facts}.collect(body);
  return reads;
}

Reach modulo_reach(const Reach& operand, int64_t divisor) {
  const std::optional<int64_t> turns = divided(operand.lo, divisor);
  if (!turns || divided(operand.hi, divisor) != turns) return {0, divisor - 1};
  return {*operand.lo - *turns * divisor, *operand.hi - *turns * divisor};
}

Reach reach_of(const Affine& index, const Ranges& ranges, std::span<const Affine> facts,
               const ValueReach& values) {
  Reach reach = reach_as_written(index, ranges, facts, values);
  // A quotient and its remainder put together reach less than the two of them on their own. The facts speak
  // of the index as it was written.
  const auto is_remainder = [](const Affine::Term& term) { return term.atom->kind == AtomKind::modulo; };
  if (index.terms().size() > 1 && std::ranges::any_of(index.terms(), is_remainder)) {
    narrow(reach, reach_as_written(simplify(index, ranges), ranges, facts, values));
  }
  return reach;
}

}  // namespace lathe
