#include "expr/index_limit.h"

#include <algorithm>
#include <array>
#include <span>

#include "expr/inputs.h"
#include "expr/integers.h"
#include "expr/reads.h"
#include "expr/walk.h"

namespace lathe {
namespace {

constexpr int64_t kLargest = (int64_t{1} << 31) - 1;
// Beyond this an intermediate value is called unbounded: products of two such still fit 64 bits.
constexpr int64_t kUnbounded = int64_t{1} << 31;

// Inputs whose values lie in intervals.
struct InputValues {
  std::span<const Tensor> inputs;
  std::span<const Interval> values;  // of the same inputs
};

// What an integer expression reaches with such inputs.
class ValueBounds {
 public:
  ValueBounds(const InputValues& known, const Ranges& ranges) : known_(known), ranges_(ranges) {}

  Reach operator()(const Expr& e) const {
    const Reach reach = in_type(std::visit(*this, e->node), e.type().dtype);
    const bool bounded =
        reach.lo && reach.hi && std::abs(*reach.lo) <= kUnbounded && std::abs(*reach.hi) <= kUnbounded;
    return bounded ? reach : Reach{};
  }

  Reach operator()(const Literal& e) const { return {e.integer, e.integer}; }
  Reach operator()(const Index& e) const { return reach_of(e.value, ranges_, {}, *this); }
  Reach operator()(const Load& e) const {
    const auto input = std::ranges::find(known_.inputs, e.tensor);
    if (input == known_.inputs.end()) return {};
    const Interval& values = known_.values[static_cast<size_t>(input - known_.inputs.begin())];
    return {values.lo, values.hi};
  }
  Reach operator()(const Cast& e) const {
    return is_float(e.operand.type().dtype) ? Reach{} : (*this)(e.operand);
  }
  Reach operator()(const Binary& e) const {
    const Reach a = (*this)(e.a);
    const Reach b = (*this)(e.b);
    return a.lo && b.lo ? combined(e.op, *a.lo, *a.hi, *b.lo, *b.hi) : Reach{};
  }
  Reach operator()(const Select& e) const {
    const Reach a = (*this)(e.if_true);
    const Reach b = (*this)(e.if_false);
    if (!a.lo || !b.lo) return {};
    return {std::min(*a.lo, *b.lo), std::max(*a.hi, *b.hi)};
  }
  Reach operator()(const Unary& e) const {
    const Reach operand = (*this)(e.operand);
    if (!operand.lo || !operand.hi) return {};
    if (e.op == UnaryOp::negate) return {-*operand.hi, -*operand.lo};
    if (e.op != UnaryOp::abs) return {};
    const bool has_zero = *operand.lo <= 0 && *operand.hi >= 0;
    const int64_t lo = std::abs(*operand.lo);
    const int64_t hi = std::abs(*operand.hi);
    return {has_zero ? 0 : std::min(lo, hi), std::max(lo, hi)};
  }
  Reach operator()(const BitCast&) const { return {}; }
  Reach operator()(const Broadcast&) const { return {}; }
  Reach operator()(const Ramp&) const { return {}; }
  Reach operator()(const Call&) const { return {}; }

 private:
  // What goes beyond the ends of a narrow type wraps around, anywhere.
  static Reach in_type(const Reach& reach, DType dtype) {
    if (!reach.lo || !reach.hi || !is_integer(dtype) || bytes_of(dtype) >= bytes_of(DType::i32)) return reach;
    const Interval range = integers_of(dtype);
    if (range.lo <= *reach.lo && *reach.hi <= range.hi) return reach;
    return {range.lo, range.hi};
  }

  static Reach combined(BinaryOp op, int64_t a_lo, int64_t a_hi, int64_t b_lo, int64_t b_hi) {
    switch (op) {
      case BinaryOp::add: return {a_lo + b_lo, a_hi + b_hi};
      case BinaryOp::sub: return {a_lo - b_hi, a_hi - b_lo};
      case BinaryOp::min: return {std::min(a_lo, b_lo), std::min(a_hi, b_hi)};
      case BinaryOp::max: return {std::max(a_lo, b_lo), std::max(a_hi, b_hi)};
      case BinaryOp::mul: {
        const std::array corners = {a_lo * b_lo, a_lo * b_hi, a_hi * b_lo, a_hi * b_hi};
        return {std::ranges::min(corners), std::ranges::max(corners)};
      }
      case BinaryOp::div:
        if (b_lo <= 0) return {};
        return {floor_div(Affine(a_lo), b_lo).constant(), floor_div(Affine(a_hi), b_hi).constant()};
      case BinaryOp::mod: return b_lo <= 0 ? Reach{} : modulo_reach({a_lo, a_hi}, b_hi);
      default: return {};
    }
  }

  const InputValues& known_;
  const Ranges& ranges_;
};

enum class Reads : uint8_t { all, unconditional };

bool stays_inside(const Dag& dag, const InputValues& known, Reads which) {
  for (const Compute& compute : dag.computes) {
    const Ranges ranges = ranges_of(compute);
    const ValueBounds values(known, ranges);
    for (const Read& read : reads_of(compute.body)) {
      if (read.is_conditional && which == Reads::unconditional) continue;
      for (size_t d = 0; d < read.load->index.size(); ++d) {
        const Reach reach = reach_of(read.load->index[d], ranges, read.facts, values);
        const bool outside =
            (reach.lo && *reach.lo < 0) || (reach.hi && *reach.hi >= read.load->tensor->shape[d]);
        if (outside) return false;
      }
    }
  }
  return true;
}

// The largest of 1 .. kLargest that fits, where all below it do; 1 where none does. Looks from below: far
// above it values are unbounded, and so called harmless.
template <class Fits>
int64_t last_that_fits(const Fits& fits) {
  int64_t good = 1;
  while (good < kLargest && fits(std::min(2 * good, kLargest))) good = std::min(2 * good, kLargest);
  int64_t bad = good == kLargest ? good + 1 : 2 * good;
  while (good + 1 < bad) {
    const int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

// Whether an index is made of the input's values.
bool is_in_an_index(const Dag& dag, const Tensor& input) {
  bool found = false;
  const auto look = [&](const Expr& value) {
    for (const Load* load : loads_of(value)) found = found || load->tensor == input;
    return value;
  };
  for (const Compute& compute : dag.computes) {
    for (const Load* load : loads_of(compute.body))
      for (const Affine& index : load->index) map_opaque(index, look);
  }
  return found;
}

// All values around the one nearest to 0 that fits, of those that powers of two reach; a side where every
// value fits has no bound. Nothing where none fits.
std::optional<Reach> values_inside(const Dag& dag, const Tensor& input, Reads which) {
  if (!is_in_an_index(dag, input)) return Reach{};
  const auto fits = [&](int64_t lo, int64_t hi) {
    const Interval values{lo, hi};
    return stays_inside(dag, {{&input, 1}, {&values, 1}}, which);
  };
  constexpr int64_t kFarthest = int64_t{1} << 20;
  int64_t origin = 0;
  while (!fits(origin, origin)) {
    if (origin == -kFarthest) return std::nullopt;
    origin = origin > 0 ? -origin : origin == 0 ? 1 : -2 * origin;
  }
  const int64_t most = last_that_fits([&](int64_t up) { return fits(origin, origin + up - 1); });
  Reach values;
  if (most != kLargest) values.hi = origin + most - 1;
  const int64_t highest = values.hi.value_or(INT32_MAX);
  const int64_t below = last_that_fits([&](int64_t down) { return fits(origin + 1 - down, highest); });
  if (below != kLargest) values.lo = origin + 1 - below;
  return values;
}

}  // namespace

std::vector<Interval> index_values(const Dag& dag) {
  std::vector<Interval> alone;
  for (const Tensor& input : dag.inputs) {
    const Reach values = values_inside(dag, input, Reads::all).value_or(Reach{0, 0});
    const int64_t lo = values.lo.value_or(INT32_MIN);
    const int64_t hi = values.hi.value_or(INT32_MAX);
    // Weights of 8 bits are of both signs; sums of wider integers go too far sooner.
    const bool is_of_both_signs = input->dtype == DType::i8 && !values.lo && !values.hi;
    alone.push_back({hi >= 0 && !is_of_both_signs ? std::max<int64_t>(lo, 0) : lo, hi});
  }
  const auto lowest = [&](int64_t count) {
    std::vector<Interval> values = alone;
    for (Interval& of : values) of.hi = std::min(of.hi, of.lo + count - 1);
    return values;
  };
  const int64_t count = last_that_fits(
      [&](int64_t tried) { return stays_inside(dag, {dag.inputs, lowest(tried)}, Reads::all); });
  return count == kLargest ? alone : lowest(count);
}

std::optional<Interval> index_range(const Dag& dag, const Tensor& input) {
  const std::optional<Reach> values = values_inside(dag, input, Reads::unconditional);
  if (!values || (!values->lo && !values->hi)) return std::nullopt;
  const Interval all = integers_of(input->dtype);
  const Interval inside = {std::max(values->lo.value_or(all.lo), all.lo),
                           std::min(values->hi.value_or(all.hi), all.hi)};
  if (inside == all) return std::nullopt;
  return inside;
}

}  // namespace lathe
