// Expressions, indices and reads of the Dag evaluator, lane by lane.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "loop/evaluator/dag_evaluator.h"
#include "loop/evaluator/too_far.h"
#include "loop/interpreter/arithmetic.h"

namespace lathe::evaluator {
namespace {

using interpreter::apply;
using interpreter::floor_quotient;
using interpreter::floor_remainder;
using interpreter::holds;
using interpreter::is_condition;

// Computes that reduce nothing are computed in place where they are small, with all that is computed in place
// inside of them, and in chains so long; beyond, their elements are kept.
constexpr int kMostInlined = 4;
constexpr int64_t kMostInlinedNodes = 512;

bool inside(const Indices& index, int64_t extent, int64_t lanes) {
  if (index.each != nullptr) {
    return std::all_of(index.each, index.each + lanes, [&](int64_t i) { return i >= 0 && i < extent; });
  }
  const int64_t last = index[lanes - 1];
  return std::min(index.base, last) >= 0 && std::max(index.base, last) < extent;
}

// The row-major position at one lane, or -1 outside.
int64_t position_of(std::span<const Indices> index, const Source& source, int64_t lane) {
  int64_t position = 0;
  for (size_t dim = 0; dim < index.size(); ++dim) {
    const int64_t i = index[dim][lane];
    if (i < 0 || i >= source.shape[dim]) return -1;
    position += i * source.strides[dim];
  }
  return position;
}

double round_cast(DType dtype, double value) {
  return is_float(dtype) && bytes_of(dtype) >= 4 ? value : round_to(dtype, value);
}

double integer_binary(DType dtype, BinaryOp op, double x, double y) {
  return number_kept(dtype, interpreter::apply_to_integers(dtype, op, cut_to(dtype, x), cut_to(dtype, y)));
}

double bits_of(DType from, DType to, double value) {
  const interpreter::Bits bits = interpreter::bits_as(
      from, to, is_float(from) ? interpreter::Bits{value, 0} : interpreter::Bits{0, cut_to(from, value)});
  return is_float(to) ? bits.number : number_kept(to, bits.integer);
}

}  // namespace

bool is_small(const Source& source) {
  return source.compute != nullptr && source.compute->reduction == Reduction::none &&
         source.nodes <= kMostInlinedNodes;
}

Indices DagEvaluator::atom(const AtomNode& atom, const Frame& frame) {
  if (atom.kind == AtomKind::variable) {
    const auto found = std::ranges::find(frame.axes, &atom, &std::pair<const AtomNode*, Indices>::first);
    LATHE_CHECK(found != frame.axes.end());
    return found->second;
  }
  if (atom.kind == AtomKind::opaque) {
    const Values values = value(*atom.opaque, frame);
    if (values.stride == 0) return {truncate(values[0]), 0, nullptr};
    int64_t* each = integers_.take();
    for (int64_t l = 0; l < frame.lanes; ++l) each[l] = truncate(values[l]);
    return {0, 0, each};
  }
  const Indices operand = indices(atom.operand, frame);
  const auto divide = [&](int64_t value) {
    return atom.kind == AtomKind::floor_div ? floor_quotient(value, atom.divisor)
                                            : floor_remainder(value, atom.divisor);
  };
  if (operand.uniform()) return {divide(operand.base), 0, nullptr};
  int64_t* each = integers_.take();
  for (int64_t l = 0; l < frame.lanes; ++l) each[l] = divide(operand[l]);
  return {0, 0, each};
}

Indices DagEvaluator::indices(const Affine& a, const Frame& frame) {
  Indices sum{a.constant(), 0, nullptr};
  int64_t* each = nullptr;
  for (const Affine::Term& term : a.terms()) {
    const Indices part = atom(*term.atom, frame);
    sum.base += part.base * term.coefficient;
    sum.step += part.step * term.coefficient;
    if (part.each == nullptr) continue;
    if (each == nullptr) {
      each = integers_.take();
      std::fill_n(each, frame.lanes, 0);
    }
    for (int64_t l = 0; l < frame.lanes; ++l) each[l] += part.each[l] * term.coefficient;
  }
  if (each == nullptr) return sum;
  for (int64_t l = 0; l < frame.lanes; ++l) each[l] += sum.base + l * sum.step;
  return {0, 0, each};
}

Values DagEvaluator::load(const Load& load, const Frame& frame) {
  if (watch_.is_over_after_step()) return {&kNan, 0};
  Source& source = source_of(load.tensor);
  std::vector<Indices> index;
  for (const Affine& dim : load.index) index.push_back(indices(dim, frame));
  if (source.compute == nullptr) return read(source, index, frame.lanes);
  if (is_small(source) && frame.inlined < kMostInlined) return inlined(*source.compute, index, frame);
  return looked_up(source, index, frame.lanes);
}

Values DagEvaluator::read(const Source& source, std::span<const Indices> index, int64_t lanes) {
  bool regular = true;
  Indices offset;
  for (size_t dim = 0; dim < index.size(); ++dim) {
    regular = regular && index[dim].each == nullptr && inside(index[dim], source.shape[dim], lanes);
    offset.base += index[dim].base * source.strides[dim];
    offset.step += index[dim].step * source.strides[dim];
  }
  const double* data = source.elements.data();
  if (regular && (offset.step == 0 || offset.step == 1)) return {data + offset.base, offset.step};
  double* result = doubles_.take();
  if (regular) {
    for (int64_t l = 0; l < lanes; ++l) result[l] = data[offset.base + l * offset.step];
    return {result, 1};
  }
  for (int64_t l = 0; l < lanes; ++l) {
    const int64_t position = position_of(index, source, l);
    result[l] = position < 0 ? kNan : data[position];
  }
  return {result, 1};
}

Values DagEvaluator::inlined(const Compute& compute, std::span<const Indices> index, const Frame& frame) {
  Frame inner;
  inner.lanes = frame.lanes;
  inner.inlined = frame.inlined + 1;
  for (size_t i = 0; i < compute.axes.size(); ++i) {
    inner.axes.emplace_back(compute.axes[i].var.atom().get(), index[i]);
  }
  // Of all rows that the body takes, its result's is kept.
  const size_t doubles = doubles_.used();
  const size_t integers = integers_.used();
  const Values result = value(compute.body, inner);
  doubles_.release(doubles);
  integers_.release(integers);
  double* const kept = doubles_.take();
  if (result.data != kept) std::copy_n(result.data, result.stride == 0 ? 1 : frame.lanes, kept);
  return {kept, result.stride};
}

Values DagEvaluator::looked_up(Source& source, std::span<const Indices> index, int64_t lanes) {
  const bool uniform = std::ranges::all_of(index, &Indices::uniform);
  double* result = doubles_.take();
  for (int64_t l = 0; l < (uniform ? 1 : lanes); ++l) {
    const int64_t position = position_of(index, source, l);
    result[l] = position < 0 ? kNan : element(source, position);
  }
  return {result, uniform ? 0 : 1};
}

struct ExpressionEvaluator {
  DagEvaluator& self;
  const DagEvaluator::Frame& frame;
  DType dtype;

  Values uniform(double value) const {
    double* result = self.doubles_.take();
    result[0] = value;
    return {result, 0};
  }
  Values value(const Expr& e) const { return self.value(e, frame); }
  // One value for all lanes if all operands are that.
  template <class Operation>
  Values lanes(bool is_uniform, const Operation& operation) const {
    double* result = self.doubles_.take();
    const int64_t count = is_uniform ? 1 : frame.lanes;
    for (int64_t l = 0; l < count; ++l) result[l] = operation(l);
    return {result, is_uniform ? 0 : 1};
  }

  // Notes a result that goes too far where `from` says that its lane's operands do not.
  template <class From>
  Values noted(const Values& result, const From& from) const {
    const int64_t count = result.stride == 0 ? 1 : frame.lanes;
    const double limit = too_far(dtype);
    bool any = false;
    for (int64_t l = 0; l < count; ++l) any |= std::abs(result.data[l]) >= limit;
    if (!any || self.excess_.of_floats) return result;
    for (int64_t l = 0; l < count && !self.excess_.of_floats; ++l) {
      self.excess_.of_floats = goes_too_far(dtype, result[l]) && from(l);
    }
    return result;
  }
  // The same of integers, which have wrapped around in `result`; those of 64 bits alone may be rounded before
  // they do. Differences of unsigned ones go too far below 0 as well.
  void note_integers(const Binary& e, const Values& a, const Values& b, int64_t count) const {
    const bool grows = e.op == BinaryOp::add || e.op == BinaryOp::sub || e.op == BinaryOp::mul;
    if (!is_wide_integer(dtype)) return;
    for (int64_t l = 0; l < count && !self.excess_.of_integers; ++l) {
      const double result = grows ? apply(e.op, a[l], b[l]) : 0;
      self.excess_.of_integers = goes_too_far(dtype, result) || (is_unsigned(dtype) && result < 0) ||
                                 (is_bitwise(e.op) && are_rounded(a[l], b[l]));
    }
  }
  void note_saturated(double value) const {
    if (!is_outside(dtype, value)) return;
    ++self.excess_.saturated;
    const double beyond = std::log2(std::abs(value) / static_cast<double>(integers_of(dtype).hi));
    if (beyond > 0 && std::isfinite(beyond)) self.excess_.powers_beyond += beyond;
  }
  // Whether bits are missing of what they are taken of.
  bool are_rounded(double a, double b) const { return goes_too_far(dtype, a) || goes_too_far(dtype, b); }

  Values operator()(const Literal& e) const {
    return uniform(is_float(dtype) ? round_to(dtype, e.value) : number_kept(dtype, e.integer));
  }
  Values operator()(const Index& e) const {
    const Indices index = self.indices(e.value, frame);
    return lanes(index.uniform(), [&](int64_t l) { return static_cast<double>(index[l]); });
  }
  Values operator()(const Load& e) const { return self.load(e, frame); }
  Values operator()(const Unary& e) const {
    const Values a = value(e.operand);
    const Values result =
        lanes(a.stride == 0, [&](int64_t l) { return round_cast(dtype, apply(e.op, a[l])); });
    if (!is_float(dtype)) return result;
    return noted(result, [&](int64_t l) { return !goes_too_far(dtype, a[l]); });
  }
  Values operator()(const Binary& e) const {
    const Values a = value(e.a);
    const Values b = value(e.b);
    const bool is_uniform = a.stride == 0 && b.stride == 0;
    if (is_condition(e.op)) {
      return lanes(is_uniform, [&](int64_t l) { return holds(e.op, a[l], b[l]) ? 1.0 : 0.0; });
    }
    if (!is_float(dtype)) {
      note_integers(e, a, b, is_uniform ? 1 : frame.lanes);
      return lanes(is_uniform, [&](int64_t l) { return integer_binary(dtype, e.op, a[l], b[l]); });
    }
    const auto from = [&](int64_t l) { return !goes_too_far(dtype, a[l]) && !goes_too_far(dtype, b[l]); };
    if (e.op == BinaryOp::mul) return noted(lanes(is_uniform, [&](int64_t l) { return a[l] * b[l]; }), from);
    return noted(lanes(is_uniform, [&](int64_t l) { return apply(e.op, a[l], b[l]); }), from);
  }
  // A side that no lane takes is left out.
  Values operator()(const Select& e) const {
    const Values condition = value(e.condition);
    bool any = false;
    bool all = true;
    for (int64_t l = 0; l < (condition.stride == 0 ? 1 : frame.lanes); ++l) {
      any = any || condition[l] != 0;
      all = all && condition[l] != 0;
    }
    if (all) return value(e.if_true);
    if (!any) return value(e.if_false);
    const Values a = value(e.if_true);
    const Values b = value(e.if_false);
    return lanes(false, [&](int64_t l) { return condition[l] != 0 ? a[l] : b[l]; });
  }
  Values operator()(const Cast& e) const {
    const Values a = value(e.operand);
    const DType from = e.operand.type().dtype;
    if (is_float(from) && !is_float(dtype)) {
      const int64_t count = a.stride == 0 ? 1 : frame.lanes;
      self.excess_.converted += count;
      for (int64_t l = 0; l < count; ++l) note_saturated(a[l]);
      return lanes(a.stride == 0, [&](int64_t l) { return number_kept(dtype, saturated(dtype, a[l])); });
    }
    // What an integer becomes is a number of the type; a float stays as near to the exact one as it is.
    const Values result = lanes(a.stride == 0, [&](int64_t l) {
      return is_float(from) ? round_cast(dtype, a[l]) : round_to(dtype, a[l]);
    });
    if (!is_float(dtype)) return result;  // wraps around
    return noted(result, [&](int64_t l) { return !goes_too_far(from, a[l]); });
  }
  Values operator()(const BitCast& e) const {
    const Values a = value(e.operand);
    const DType from = e.operand.type().dtype;
    for (int64_t l = 0; l < (a.stride == 0 ? 1 : frame.lanes) && is_wide_integer(from); ++l)
      self.excess_.of_integers = self.excess_.of_integers || goes_too_far(from, a[l]);
    return lanes(a.stride == 0, [&](int64_t l) { return bits_of(from, dtype, a[l]); });
  }
  Values operator()(const Broadcast&) const { return uniform(kNan); }  // lowered programs only
  Values operator()(const Ramp&) const { return uniform(kNan); }
  Values operator()(const Call&) const { return uniform(kNan); }
};

Values DagEvaluator::value(const Expr& e, const Frame& frame) {
  return std::visit(ExpressionEvaluator{*this, frame, e.type().dtype}, e->node);
}

}  // namespace lathe::evaluator
