#include "rewrite/phases.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/walk.h"
#include "rewrite/match.h"

namespace lathe {
namespace {

std::unexpected<Error> refuse_phases(const std::string& stage, const std::string& reason) {
  return fail(ErrorKind::illegal_schedule, fmt::format("phases does not apply to '{}': {}", stage, reason));
}

bool is_zero(const Expr& e) {
  if (const Index* index = e.as<Index>()) return index->value == Affine(0);
  const Literal* value = e.as<Literal>();
  return value != nullptr && value->value == 0 && value->integer == 0;
}

// What a load sees through element-wise computes that only move elements or put zeros between and around
// them: an element of the input where all conditions hold, else zero.
struct Expanded {
  Load input;
  std::vector<Expr> conditions;  // of comparisons, over the first load's axes
};

void add_comparisons(const Expr& condition, std::vector<Expr>& comparisons) {
  const Binary* both = condition.as<Binary>();
  if (both == nullptr || both->op != BinaryOp::logical_and) {
    comparisons.push_back(condition);
    return;
  }
  add_comparisons(both->a, comparisons);
  add_comparisons(both->b, comparisons);
}

Expanded see_through(const Dag& dag, const Load& load) {
  Expanded seen{load, {}};
  while (const Compute* producer = dag.producer(seen.input.tensor)) {
    if (producer->reduction != Reduction::none) break;
    const Select* select = producer->body.as<Select>();
    const Load* inner = select != nullptr ? select->if_true.as<Load>() : producer->body.as<Load>();
    if (inner == nullptr || (select != nullptr && !is_zero(select->if_false))) break;
    Substitution values;
    for (size_t i = 0; i < seen.input.index.size(); ++i)
      values.emplace_back(producer->axes[i].var, seen.input.index[i]);
    if (select != nullptr) add_comparisons(substitute(select->condition, values), seen.conditions);
    Load next{inner->tensor, {}, 0, {}};
    for (const Affine& index : inner->index) next.index.push_back(substitute(index, values));
    seen.input = std::move(next);
  }
  return seen;
}

// One spatial axis of the transposed convolution: output y reads the expanded position y + k - pad, which
// holds input (y + k - pad) / stride where that divides. With y = stride * t + a and k = stride * q +
// first_tap(a) the input read is t + q + offset(a).
struct PhaseAxis {
  size_t output_dim = 0;
  size_t reduce_axis = 0;
  size_t data_dim = 0;
  int64_t stride = 1;
  int64_t pad = 0;
  int64_t extent = 0;  // of the output
  int64_t kernel = 0;

  int64_t tiles() const { return (extent + stride - 1) / stride; }
  int64_t taps() const { return (kernel + stride - 1) / stride; }
  Affine first_tap(const Affine& phase) const { return modulo(Affine(pad) - phase, stride); }
  Affine offset(const Affine& phase) const {
    return floor_div(phase + first_tap(phase) - Affine(pad), stride);
  }
  // The least and the largest input position that any output reads.
  Interval reach() const {
    Interval range{INT64_MAX, INT64_MIN};
    for (int64_t a = 0; a < stride; ++a) {
      const int64_t at = offset(Affine(a)).constant();
      range.lo = std::min(range.lo, at);
      range.hi = std::max(range.hi, at + tiles() - 1 + taps() - 1);
    }
    return range;
  }
};

// input[.., (y + k - pad) / stride, ..] for each window; nothing if an index has another form or nothing
// strides.
std::optional<std::vector<PhaseAxis>> phase_axes(const Compute& conv, const WindowedProduct& match,
                                                 const Load& input) {
  std::vector<PhaseAxis> axes;
  bool strided = false;
  if (input.index.size() != match.data.index.size()) return std::nullopt;
  for (const WindowedProduct::Window& window : match.windows) {
    PhaseAxis axis{window.output_dim,
                   window.reduce_axis,
                   window.data_dim,
                   1,
                   0,
                   conv.axes[window.output_dim].extent,
                   conv.axes[window.reduce_axis].extent};
    if (std::ranges::find(axes, window.output_dim, &PhaseAxis::output_dim) != axes.end()) return std::nullopt;
    Affine index = input.index[window.data_dim];
    const bool divided = index.terms().size() == 1 && index.terms()[0].coefficient == 1 &&
                         index.terms()[0].atom->kind == AtomKind::floor_div;
    if (divided) {
      // Simplification takes whole strides out of the quotient: z / s - 1 is (z - s) / s.
      axis.stride = index.terms()[0].atom->divisor;
      index = Affine(index.terms()[0].atom->operand) + index.constant() * axis.stride;
    }
    const Affine position =
        Affine(conv.axes[window.output_dim].var) + Affine(conv.axes[window.reduce_axis].var);
    const Affine shift = position - index;
    if (!shift.is_constant()) return std::nullopt;
    axis.pad = shift.constant();
    strided |= axis.stride > 1;
    axes.push_back(axis);
  }
  if (!strided) return std::nullopt;
  return axes;
}

// Of the positions y + k of one window, those that conditions let through.
struct Passing {
  Interval range;
  bool is_strided = false;  // those alone that hold an input

  // Takes in a comparison over `position`; false where it is of another form.
  bool narrow(const Expr& comparison, const PhaseAxis& axis, const Var& position) {
    const Binary* compared = comparison.as<Binary>();
    const Index* left = compared != nullptr ? compared->a.as<Index>() : nullptr;
    const Index* right = compared != nullptr ? compared->b.as<Index>() : nullptr;
    if (left == nullptr || right == nullptr) return false;
    const Affine difference = right->value - left->value;
    if (compared->op == BinaryOp::equal) {
      const Affine remainder = modulo(Affine(position) - Affine(axis.pad), axis.stride);
      is_strided |= difference == remainder || difference == remainder * -1;
      return difference == remainder || difference == remainder * -1;
    }
    if (compared->op != BinaryOp::less && compared->op != BinaryOp::less_equal) return false;
    const int64_t least = compared->op == BinaryOp::less ? 1 : 0;
    const Affine rising = difference - Affine(position);
    const Affine falling = difference + Affine(position);
    if (rising.is_constant()) range.lo = std::max(range.lo, least - rising.constant());
    if (falling.is_constant()) range.hi = std::min(range.hi, falling.constant() - least);
    return rising.is_constant() || falling.is_constant();
  }
};

// Whether exactly the positions that hold an element of the input pass.
bool passes_inputs_alone(const Passing& passing, const PhaseAxis& axis, int64_t inputs) {
  if (passing.is_strided != (axis.stride > 1)) return false;
  const auto from = [&](int64_t position) {
    return -floor_div(Affine(axis.pad - position), axis.stride).constant();
  };
  const auto to = [&](int64_t position) {
    return floor_div(Affine(position - axis.pad), axis.stride).constant();
  };
  const int64_t last = axis.extent + axis.kernel - 2;
  const Interval passed{from(std::max<int64_t>(passing.range.lo, 0)), to(std::min(passing.range.hi, last))};
  const Interval wanted{std::max<int64_t>(from(0), 0), std::min(to(last), inputs - 1)};
  return passed.lo == wanted.lo && passed.hi == wanted.hi;
}

// Whether the conditions are those of an input expanded by these strides, and nothing else happens to it.
bool is_expansion(const Compute& conv, const WindowedProduct& match, const Expanded& seen,
                  const std::vector<PhaseAxis>& axes) {
  std::vector<Expr> left = seen.conditions;
  std::vector<bool> in_window(seen.input.index.size(), false);
  for (const PhaseAxis& axis : axes) {
    in_window[axis.data_dim] = true;
    const Var& y = conv.axes[axis.output_dim].var;
    const Var& k = conv.axes[axis.reduce_axis].var;
    const Var position("position");
    const Substitution sum = {{k, Affine(position) - Affine(y)}};
    Passing passing{{0, axis.extent + axis.kernel - 2}};
    const auto is_taken = [&](const Expr& condition) {
      return (uses(condition, y) || uses(condition, k)) &&
             passing.narrow(substitute(condition, sum), axis, position);
    };
    std::erase_if(left, is_taken);
    if (!passes_inputs_alone(passing, axis, seen.input.tensor->shape[axis.data_dim])) return false;
  }
  const auto is_of_window = [&](const Affine& index) {
    return std::ranges::any_of(axes, [&](const PhaseAxis& axis) {
      return index.uses(conv.axes[axis.output_dim].var) || index.uses(conv.axes[axis.reduce_axis].var);
    });
  };
  for (size_t d = 0; d < in_window.size(); ++d) {
    if (in_window[d]) continue;
    if (seen.input.index[d] != match.data.index[d] || is_of_window(match.data.index[d])) return false;
  }
  return left.empty();
}

// input with zeros around it, so that every phase reads inside: [.., lo .. hi, ..] of each window.
Compute padded_input(const std::string& name, const Load& input, const std::vector<PhaseAxis>& axes) {
  std::vector<int64_t> shape = input.tensor->shape;
  std::vector<Axis> loops;
  std::vector<Affine> index;
  for (size_t d = 0; d < shape.size(); ++d) {
    loops.push_back(spatial(fmt::format("d{}", d), shape[d]));
    index.emplace_back(loops.back().var);
  }
  Expr inside;
  const auto require = [&](const Expr& condition) {
    inside = inside.defined() ? inside && condition : condition;
  };
  for (const PhaseAxis& axis : axes) {
    const Interval reach = axis.reach();
    const size_t d = axis.data_dim;
    index[d] += reach.lo;
    loops[d].extent = reach.hi - reach.lo + 1;
    if (reach.lo < 0) require(Expr(index[d]) >= Expr(0));
    if (reach.hi >= shape[d]) require(Expr(index[d]) < Expr(shape[d]));
    shape[d] = loops[d].extent;
  }
  const Expr element = load(input.tensor, index);
  return {Tensor(name + ".I", shape, input.tensor->dtype), loops, Reduction::none,
          inside.defined() ? select(inside, element, literal(element.type(), 0)) : element};
}

// P[n, f, t.., a..] = sum over c.., q.. of padded[.., t + q + offset(a), ..] * W[.., stride * q +
// first_tap(a), ..]
Compute phase_product(const Compute& conv, const WindowedProduct& match, const std::vector<PhaseAxis>& axes,
                      const Tensor& padded) {
  std::vector<Axis> loops(conv.axes.begin(),
                          conv.axes.begin() + static_cast<std::ptrdiff_t>(conv.spatial_count()));
  std::vector<Axis> phases;
  std::vector<Axis> taps;
  Substitution in_weight;
  std::vector<Affine> data_index = match.data.index;
  Expr exists;
  for (const PhaseAxis& axis : axes) {
    const std::string& y = conv.axes[axis.output_dim].var.name();
    loops[axis.output_dim] = spatial(y + "t", axis.tiles());
    phases.push_back(spatial(y + "a", axis.stride));
    taps.push_back(reduce(conv.axes[axis.reduce_axis].var.name() + "q", axis.taps()));
    const Affine phase(phases.back().var);
    const Affine tap = Affine(taps.back().var) * axis.stride + axis.first_tap(phase);
    in_weight.emplace_back(conv.axes[axis.reduce_axis].var, tap);
    data_index[axis.data_dim] =
        Affine(loops[axis.output_dim].var) + Affine(taps.back().var) + axis.offset(phase) - axis.reach().lo;
    if (axis.kernel % axis.stride != 0) {
      const Expr here = Expr(tap) < Expr(axis.kernel);
      exists = exists.defined() ? exists && here : here;
    }
  }
  std::vector<Affine> weight_index;
  for (const Affine& index : match.weight.index) weight_index.push_back(substitute(index, in_weight));
  std::vector<int64_t> shape;
  loops.insert(loops.end(), phases.begin(), phases.end());
  for (const Axis& axis : loops) shape.push_back(axis.extent);
  for (size_t channel : match.channels) loops.push_back(conv.axes[channel]);
  loops.insert(loops.end(), taps.begin(), taps.end());
  Expr weight = load(match.weight.tensor, weight_index);
  if (exists.defined()) weight = select(exists, weight, literal(weight.type(), 0));
  return {Tensor(conv.output->name + ".P", shape, conv.output->dtype), loops, Reduction::sum,
          load(padded, data_index) * weight};
}

Compute pick_phases(const Compute& conv, const std::vector<PhaseAxis>& axes, const Tensor& product) {
  std::vector<Axis> loops;
  std::vector<Affine> index;
  for (size_t d = 0; d < conv.spatial_count(); ++d) {
    loops.push_back(spatial(conv.axes[d].var.name(), conv.axes[d].extent));
    index.emplace_back(loops.back().var);
  }
  for (const PhaseAxis& axis : axes) {
    index.push_back(modulo(Affine(loops[axis.output_dim].var), axis.stride));
    index[axis.output_dim] = floor_div(Affine(loops[axis.output_dim].var), axis.stride);
  }
  return {conv.output, loops, Reduction::none, load(product, index)};
}

}  // namespace

Result<Dag> rewrite_phases(const Dag& dag, const std::string& stage, const RewriteParameters&) {
  LATHE_TRY(const size_t position, find_stage(dag, stage));
  const Compute& conv = dag.computes[position];
  const auto match = match_windowed_product(conv);
  if (!match) return refuse_phases(stage, "it is no dense convolution of stride 1 over an expanded input");
  const Expanded seen = see_through(dag, match->data);
  const auto axes = phase_axes(conv, *match, seen.input);
  if (!axes || seen.input.tensor == match->data.tensor)
    return refuse_phases(stage, "its input is not expanded");
  if (!is_expansion(conv, *match, seen, *axes))
    return refuse_phases(stage, "its input is not expanded by zeros between and around all elements alone");
  std::vector<Compute> computes;
  computes.push_back(padded_input(stage, seen.input, *axes));
  computes.push_back(phase_product(conv, *match, *axes, computes.back().output));
  computes.push_back(pick_phases(conv, *axes, computes.back().output));
  return without_unused(replace_stage(dag, position, std::move(computes)));
}

}  // namespace lathe
