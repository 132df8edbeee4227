#include "check/error_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <ranges>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "expr/values.h"
#include "expr/walk.h"
#include "loop/interpreter/arithmetic.h"

namespace lathe {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// An index into a tensor, or what is known of one that follows from data.
struct Place {
  int64_t index = 0;
  bool is_decided = true;  // no rounding leads elsewhere
};

// The values of a compute's axes.
using Environment = std::vector<std::pair<const AtomNode*, int64_t>>;

}  // namespace

class ErrorBound::Elements {
 public:
  Elements(const Dag& dag, std::span<const HostTensor> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) given_[dag.inputs[i].get()] = inputs[i].values;
    for (const Compute& compute : dag.computes) computed_[compute.output.get()].compute = &compute;
  }

  Result<Approximate> within(const TensorNode* tensor, int64_t position, const Watch& watch) {
    constexpr uint64_t kTermsAtOnce = 1 << 14;
    if (!watch.is_over()) {
      watch_ = StepWatch(watch, kTermsAtOnce);
      const Approximate element = at(tensor, position);
      if (!std::exchange(watch_, {}).is_over()) return element;
    }
    return fail(ErrorKind::timeout, "there is no time left to tell what roundings may make of an element");
  }

  Approximate at(const TensorNode* tensor, int64_t position) {
    const auto found = computed_.find(tensor);
    if (found == computed_.end()) {
      const auto given = given_.find(tensor);
      const std::span<const double> values =
          given != given_.end() ? given->second : std::span<const double>(tensor->literal);
      return {round_to(tensor->dtype, values[static_cast<size_t>(position)]), 0};
    }
    Computed& computed = found->second;
    if (const auto known = computed.known.find(position); known != computed.known.end()) return known->second;
    const Approximate element = computed_element(*computed.compute, position);
    if (watch_.is_over()) return {kNan, kUnbounded};
    computed.known.emplace(position, element);
    return element;
  }

 private:
  struct Computed {
    const Compute* compute = nullptr;
    std::unordered_map<int64_t, Approximate> known;
  };

  Approximate computed_element(const Compute& compute, int64_t position);
  Approximate value(const Expr& e, const Environment& axes);
  Place place(const Affine& index, const Environment& axes);
  Place place(const AtomNode& atom, const Environment& axes);
  Approximate load(const Load& load, const Environment& axes);
  Approximate operation(const Binary& e, DType dtype, const Environment& axes);
  Approximate choice(const Select& e, const Environment& axes);

  std::map<const TensorNode*, std::span<const double>> given_;
  std::map<const TensorNode*, Computed> computed_;
  StepWatch watch_;  // of the call, a term a step
};

Approximate ErrorBound::Elements::computed_element(const Compute& compute, int64_t position) {
  Environment axes(compute.axes.size());
  for (size_t i = compute.axes.size(); i-- > 0;) {
    const Axis& axis = compute.axes[i];
    axes[i] = {axis.var.atom().get(), 0};
    if (i >= compute.spatial_count()) continue;
    axes[i].second = position % axis.extent;
    position /= axis.extent;
  }
  if (watch_.is_over_after_step()) return {kNan, kUnbounded};
  if (compute.reduction == Reduction::none) return value(compute.body, axes);
  const DType dtype = compute.output->dtype;
  ApproximateReduction reduction(compute.reduction, dtype);
  for (;;) {
    if (watch_.is_over_after_step()) return {kNan, kUnbounded};
    reduction.add(value(compute.body, axes));
    size_t dim = axes.size();
    while (dim > compute.spatial_count() && ++axes[dim - 1].second == compute.axes[dim - 1].extent)
      axes[--dim].second = 0;
    if (dim == compute.spatial_count()) break;
  }
  const Approximate result = reduction.result();
  return is_storage_only(dtype) ? converted(info_of(dtype).computed_in, dtype, result) : result;
}

Place ErrorBound::Elements::place(const AtomNode& atom, const Environment& axes) {
  if (atom.kind == AtomKind::variable) {
    const auto found = std::ranges::find(axes, &atom, &Environment::value_type::first);
    LATHE_CHECK(found != axes.end());
    return {found->second};
  }
  if (atom.kind == AtomKind::opaque) {
    const Approximate index = value(*atom.opaque, axes);
    return {truncate(index.value), index.is_exact()};
  }
  const Place operand = place(atom.operand, axes);
  return {atom.kind == AtomKind::floor_div ? interpreter::floor_quotient(operand.index, atom.divisor)
                                           : interpreter::floor_remainder(operand.index, atom.divisor),
          operand.is_decided};
}

Place ErrorBound::Elements::place(const Affine& index, const Environment& axes) {
  Place sum{index.constant()};
  for (const Affine::Term& term : index.terms()) {
    const Place part = place(*term.atom, axes);
    sum.index += part.index * term.coefficient;
    sum.is_decided = sum.is_decided && part.is_decided;
  }
  return sum;
}

// Outside of the tensor there is no number: a verified Dag reads there only where it is not chosen.
Approximate ErrorBound::Elements::load(const Load& load, const Environment& axes) {
  int64_t position = 0;
  bool is_inside = true;
  bool is_decided = true;
  for (size_t dim = 0; dim < load.index.size(); ++dim) {
    const Place at = place(load.index[dim], axes);
    const int64_t extent = load.tensor->shape[dim];
    is_inside = is_inside && at.index >= 0 && at.index < extent;
    is_decided = is_decided && at.is_decided;
    position = position * extent + at.index;
  }
  Approximate element = is_inside ? at(load.tensor.get(), position) : Approximate{kNan, 0};
  if (!is_decided) element.error = kUnbounded;
  return element;
}

Approximate ErrorBound::Elements::operation(const Binary& e, DType dtype, const Environment& axes) {
  const bool compares = interpreter::is_condition(e.op);
  return apply(compares ? e.a.type().dtype : dtype, e.op, value(e.a, axes), value(e.b, axes));
}

Approximate ErrorBound::Elements::choice(const Select& e, const Environment& axes) {
  const Approximate condition = value(e.condition, axes);
  const bool is_true = condition.value != 0;
  const Approximate taken = value(is_true ? e.if_true : e.if_false, axes);
  return condition.is_exact() ? taken : either(taken, value(is_true ? e.if_false : e.if_true, axes));
}

Approximate ErrorBound::Elements::value(const Expr& e, const Environment& axes) {
  const DType dtype = e.type().dtype;
  if (const Load* node = e.as<Load>()) return load(*node, axes);
  if (const Binary* node = e.as<Binary>()) return operation(*node, dtype, axes);
  if (const Unary* node = e.as<Unary>()) return apply(dtype, node->op, value(node->operand, axes));
  if (const Select* node = e.as<Select>()) return choice(*node, axes);
  if (const Cast* node = e.as<Cast>())
    return converted(node->operand.type().dtype, dtype, value(node->operand, axes));
  if (const BitCast* node = e.as<BitCast>())
    return bits_kept(node->operand.type().dtype, dtype, value(node->operand, axes));
  if (const Index* node = e.as<Index>()) {
    const Place at = place(node->value, axes);
    return {static_cast<double>(at.index), at.is_decided ? 0 : kUnbounded};
  }
  if (const Literal* node = e.as<Literal>())
    return {is_float(dtype) ? round_to(dtype, node->value) : number_kept(dtype, node->integer), 0};
  LATHE_CHECK(e.as<Broadcast>() == nullptr && e.as<Ramp>() == nullptr);  // of lowered programs only
  return {};
}

ErrorBound::ErrorBound(const Dag& dag, std::span<const HostTensor> inputs)
    : elements_(std::make_unique<Elements>(dag, inputs)) {}
ErrorBound::ErrorBound(ErrorBound&&) noexcept = default;
ErrorBound& ErrorBound::operator=(ErrorBound&&) noexcept = default;
ErrorBound::~ErrorBound() = default;

Approximate ErrorBound::at(const Tensor& tensor, int64_t position) {
  return elements_->at(tensor.get(), position);
}

Result<Approximate> ErrorBound::within(const Tensor& tensor, int64_t position, const Watch& watch) {
  return elements_->within(tensor.get(), position, watch);
}

namespace {

// The operand near whose zero the expression has no bound or no value; none where it has both everywhere.
Expr pole_operand(const Expr& e) {
  if (!is_float(e.type().dtype)) return {};
  if (const Binary* binary = e.as<Binary>()) {
    if (binary->op == BinaryOp::pow) return binary->a;
    return binary->op == BinaryOp::div && binary->b.as<Literal>() == nullptr ? binary->b : Expr();
  }
  const Unary* unary = e.as<Unary>();
  const bool is_pole = unary != nullptr && (unary->op == UnaryOp::log || unary->op == UnaryOp::sqrt);
  return is_pole ? unary->operand : Expr();
}

// Whether a little more of some float changes the expression by much every so often.
bool jumps(const Expr& e) {
  if (const Binary* binary = e.as<Binary>()) {
    const bool is_of_floats = is_float(binary->a.type().dtype);
    return is_of_floats && (binary->op == BinaryOp::mod || binary->op == BinaryOp::copy_sign);
  }
  if (const BitCast* bits = e.as<BitCast>())
    return is_float(bits->operand.type().dtype) || is_float(e.type().dtype);
  if (const Cast* cast = e.as<Cast>())
    return is_float(cast->operand.type().dtype) && !is_float(e.type().dtype);
  const Unary* unary = e.as<Unary>();
  return unary != nullptr &&
         (unary->op == UnaryOp::floor || unary->op == UnaryOp::ceil || unary->op == UnaryOp::round ||
          unary->op == UnaryOp::truncate || unary->op == UnaryOp::exponent || unary->op == UnaryOp::mantissa);
}

}  // namespace

double operations_beneath(const Dag& dag, double elements) {
  std::map<const TensorNode*, double> needed;
  for (const Tensor& output : dag.outputs) needed[output.get()] = elements;
  double operations = 0;
  for (const Compute& compute : dag.computes | std::views::reverse) {
    const double times =
        std::min(needed[compute.output.get()], static_cast<double>(compute.output.elements()));
    double terms = 1;
    for (size_t i = compute.spatial_count(); i < compute.axes.size(); ++i)
      terms *= static_cast<double>(compute.axes[i].extent);
    double nodes = 0;
    for_each(compute.body, [&](const Expr&) { ++nodes; });
    operations += times * terms * nodes;
    for (const Load* load : loads_of(compute.body)) needed[load->tensor.get()] += times * terms;
  }
  return operations;
}

bool is_sensitive(const Dag& dag) {
  const auto is_of_floats = [](const Tensor& tensor) { return is_float(tensor->dtype); };
  bool found =
      std::ranges::any_of(dag.inputs, is_of_floats) && !std::ranges::all_of(dag.outputs, is_of_floats);
  for (const Compute& compute : dag.computes)
    for_each(compute.body, [&](const Expr& e) { found = found || pole_operand(e).defined() || jumps(e); });
  return found;
}

std::vector<bool> inputs_beneath_poles(const Dag& dag) {
  std::set<const TensorNode*> beneath;
  for (const Compute& compute : dag.computes | std::views::reverse) {
    const auto add_loads_of = [&](const Expr& e) {
      for (const Load* load : loads_of(e)) beneath.insert(load->tensor.get());
    };
    if (beneath.contains(compute.output.get())) add_loads_of(compute.body);
    for_each(compute.body, [&](const Expr& e) {
      if (const Expr operand = pole_operand(e); operand.defined()) add_loads_of(operand);
    });
  }
  std::vector<bool> found;
  for (const Tensor& input : dag.inputs) found.push_back(beneath.contains(input.get()));
  return found;
}

}  // namespace lathe
