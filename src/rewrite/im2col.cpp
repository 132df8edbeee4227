#include "rewrite/im2col.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/walk.h"
#include "rewrite/divided_axis.h"
#include "rewrite/match.h"

namespace lathe {
namespace {

constexpr double kMostElements = 1 << 27;

std::unexpected<Error> refuse(const std::string& stage, const std::string& reason) {
  return fail(ErrorKind::illegal_schedule, fmt::format("im2col does not apply to '{}': {}", stage, reason));
}

// The factors of a product and its axes (indices into axes), by the part that they play.
struct WindowedFactors {
  Expr data;
  Expr other;
  std::vector<size_t> common;    // spatial, of both factors
  std::vector<size_t> filters;   // spatial, not of the data: of the other one alone, or of neither
  std::vector<size_t> places;    // spatial, of the data alone: the rows of the matrix
  std::vector<size_t> windows;   // reduce, in one index with a place
  std::vector<size_t> channels;  // reduce, the data's others
};

bool reads_elements(const Expr& e) {
  return std::ranges::any_of(loads_of(e), [](const Load* load) { return load->tensor->literal.empty(); });
}

// Whether the data is read at an index with both a place and this reduce axis.
bool is_window(const Compute& compute, const WindowedFactors& factors, const Var& reduced) {
  const auto has_place = [&](const Affine& index) {
    return std::ranges::any_of(factors.places,
                               [&](size_t place) { return index.uses(compute.axes[place].var); });
  };
  return std::ranges::any_of(loads_of(factors.data), [&](const Load* load) {
    return std::ranges::any_of(load->index,
                               [&](const Affine& index) { return index.uses(reduced) && has_place(index); });
  });
}

WindowedFactors parts_of(const Compute& compute, const Expr& data, const Expr& other) {
  WindowedFactors factors{data, other, {}, {}, {}, {}, {}};
  for (size_t a = 0; a < compute.spatial_count(); ++a) {
    const Var& var = compute.axes[a].var;
    if (!uses(data, var)) {
      factors.filters.push_back(a);
    } else {
      (uses(other, var) ? factors.common : factors.places).push_back(a);
    }
  }
  for (size_t r = compute.spatial_count(); r < compute.axes.size(); ++r) {
    const Var& var = compute.axes[r].var;
    if (uses(data, var)) (is_window(compute, factors, var) ? factors.windows : factors.channels).push_back(r);
  }
  return factors;
}

std::optional<WindowedFactors> match_windows(const Compute& compute) {
  const Binary* product = compute.reduction == Reduction::sum ? compute.body.as<Binary>() : nullptr;
  if (product == nullptr || product->op != BinaryOp::mul) return std::nullopt;
  if (!reads_elements(product->a) || !reads_elements(product->b)) return std::nullopt;
  const auto fits = [&](const WindowedFactors& factors) {
    return !factors.windows.empty() && std::ranges::any_of(factors.filters, [&](size_t filter) {
      return compute.axes[filter].extent > 1 && uses(factors.other, compute.axes[filter].var);
    });
  };
  for (const WindowedFactors& factors :
       {parts_of(compute, product->a, product->b), parts_of(compute, product->b, product->a)}) {
    if (fits(factors)) return factors;
  }
  return std::nullopt;
}

// What a conversion is of, and the conversion again: the matrix holds elements as they lie in memory.
Expr without_casts(const Expr& e) {
  const Cast* outer = e.as<Cast>();
  return outer == nullptr ? e : without_casts(outer->operand);
}

Expr with_casts_of(const Expr& e, const Expr& inner) {
  const Cast* outer = e.as<Cast>();
  return outer == nullptr ? inner : cast(e.type(), with_casts_of(outer->operand, inner));
}

// The names of these axes in one word that no other axis has.
std::string joined_name(const Compute& compute, const std::vector<size_t>& axes) {
  std::string name;
  for (const size_t a : axes) {
    if (compute.axes[a].extent > 1) name += compute.axes[a].var.name();
  }
  if (name.empty()) name = compute.axes[axes[0]].var.name();
  const auto is_taken = [&] {
    for (size_t a = 0; a < compute.axes.size(); ++a) {
      const bool is_other = std::ranges::find(axes, a) == axes.end();
      if (is_other && compute.axes[a].var.name() == name) return true;
    }
    return false;
  };
  while (is_taken()) name += "_";
  return name;
}

// Several axes as one, the last of which runs fastest; axes of one place have no part in it.
struct FusedAxis {
  Axis axis;
  Substitution parts;  // each axis in terms of the fused one

  FusedAxis(const Compute& compute, const std::vector<size_t>& axes) {
    int64_t extent = 1;
    for (const size_t a : axes) extent *= compute.axes[a].extent;
    axis = spatial(joined_name(compute, axes), extent);
    Ranges known;
    known.set_extent(axis.var, extent);
    int64_t inner = 1;
    for (size_t i = axes.size(); i-- > 0;) {
      const Axis& part = compute.axes[axes[i]];
      parts.emplace_back(part.var, simplify(modulo(floor_div(Affine(axis.var), inner), part.extent), known));
      inner *= part.extent;
    }
  }
};

std::vector<Axis> fresh_axes(const Compute& compute, const std::vector<size_t>& axes, Substitution& renamed) {
  std::vector<Axis> fresh;
  for (const size_t a : axes) {
    fresh.push_back(spatial(compute.axes[a].var.name(), compute.axes[a].extent));
    renamed.emplace_back(compute.axes[a].var, Affine(fresh.back().var));
  }
  return fresh;
}

std::vector<int64_t> extents_of(const std::vector<Axis>& axes) {
  std::vector<int64_t> extents;
  for (const Axis& axis : axes) extents.push_back(axis.extent);
  return extents;
}

// Channels last: in the data's memory neighbours, where its layout is free.
std::vector<size_t> reduced_axes(const WindowedFactors& factors) {
  std::vector<size_t> axes = factors.windows;
  axes.insert(axes.end(), factors.channels.begin(), factors.channels.end());
  return axes;
}

// What is read for the place m: data[.., y(m) * s + k * d, ..]
Expr at_places(const Compute& compute, const Expr& data, const FusedAxis& rows) {
  Ranges known;
  known.set_extent(rows.axis.var, rows.axis.extent);
  for (const Axis& axis : compute.axes) known.set_extent(axis.var, axis.extent);
  return simplify_indices(substitute(data, rows.parts), known);
}

// O.col[common.., m, k.., c..] = the data of place m: data[.., y(m) * s + k * d, ..]
Compute matrix_of(const Compute& compute, const WindowedFactors& factors, const FusedAxis& rows) {
  Substitution values = rows.parts;
  std::vector<Axis> axes = fresh_axes(compute, factors.common, values);
  axes.push_back(rows.axis);
  for (const Axis& axis : fresh_axes(compute, reduced_axes(factors), values)) axes.push_back(axis);
  Ranges known;
  for (const Axis& axis : axes) known.set_extent(axis.var, axis.extent);
  const Expr element = simplify_indices(substitute(without_casts(factors.data), values), known);
  return {Tensor(compute.output->name + ".col", extents_of(axes), element.type().dtype), axes,
          Reduction::none, element};
}

// O.G[common.., of other.., m] = sum over all that O sums over of the data of place m * other
Compute matrix_product(const Compute& compute, const WindowedFactors& factors, const Axis& rows,
                       const Expr& data) {
  std::vector<Axis> axes;
  for (const size_t a : factors.common) axes.push_back(compute.axes[a]);
  for (const size_t a : factors.filters) axes.push_back(compute.axes[a]);
  axes.push_back(spatial(rows.var.name(), rows.extent));
  const std::vector<int64_t> shape = extents_of(axes);
  for (const size_t r : reduced_axes(factors)) axes.push_back(compute.axes[r]);
  for (size_t r = compute.spatial_count(); r < compute.axes.size(); ++r) {
    if (!uses(factors.data, compute.axes[r].var)) axes.push_back(compute.axes[r]);
  }
  const Expr element = substitute(data, {{rows.var, Affine(axes[shape.size() - 1].var)}});
  return {Tensor(compute.output->name + ".G", shape, compute.output->dtype), axes, Reduction::sum,
          element * factors.other};
}

// The matrix at the places of O.G's axes, converted.
Expr element_of(const Compute& compute, const WindowedFactors& factors, const Axis& rows,
                const Tensor& matrix) {
  std::vector<Affine> index;
  for (const size_t a : factors.common) index.emplace_back(compute.axes[a].var);
  index.emplace_back(rows.var);
  for (const size_t r : reduced_axes(factors)) index.emplace_back(compute.axes[r].var);
  return with_casts_of(factors.data, load(matrix, index));
}

Compute pick(const Compute& compute, const WindowedFactors& factors, const Tensor& product) {
  std::vector<Axis> axes;
  for (size_t a = 0; a < compute.spatial_count(); ++a)
    axes.push_back(spatial(compute.axes[a].var.name(), compute.axes[a].extent));
  std::vector<Affine> index;
  for (const auto* plain : {&factors.common, &factors.filters}) {
    for (const size_t a : *plain) index.emplace_back(axes[a].var);
  }
  Affine row;
  for (const size_t a : factors.places) {
    row = row * axes[a].extent;
    if (axes[a].extent > 1) row += Affine(axes[a].var);
  }
  index.push_back(row);
  return {compute.output, axes, Reduction::none, load(product, index)};
}

}  // namespace

Result<Dag> rewrite_im2col(const Dag& dag, const std::string& stage, const RewriteParameters&) {
  LATHE_TRY(const size_t position, find_stage(dag, stage));
  const Compute& compute = dag.computes[position];
  const auto factors = match_windows(compute);
  if (!factors) {
    return refuse(stage,
                  "it is no sum of products of two factors, one read in windows, the other one "
                  "with a spatial axis of its own");
  }
  const FusedAxis rows(compute, factors->places);
  std::vector<Compute> computes;
  computes.push_back(matrix_of(compute, *factors, rows));
  double elements = 1;
  for (const int64_t extent : computes.back().output->shape) elements *= static_cast<double>(extent);
  if (elements > kMostElements) return refuse(stage, fmt::format("its matrix has {:.0f} elements", elements));
  const Expr element = element_of(compute, *factors, rows.axis, computes.back().output);
  computes.push_back(matrix_product(compute, *factors, rows.axis, element));
  computes.push_back(pick(compute, *factors, computes.back().output));
  return replace_stage(dag, position, std::move(computes));
}

Result<Dag> rewrite_flat_places(const Dag& dag, const std::string& stage, const RewriteParameters&) {
  // Of an axis that is read divided the quotient is common to both factors.
  const Result<Dag> divided = rewrite_divided_axis(dag, stage, {});
  const Dag& start = divided ? *divided : dag;
  LATHE_TRY(const size_t position, find_stage(start, divided ? stage + ".D" : stage));
  const Compute& compute = start.computes[position];
  const auto factors = match_windows(compute);
  const auto is_long = [&](size_t a) { return compute.axes[a].extent > 1; };
  if (!factors || std::ranges::count_if(factors->places, is_long) < 2) {
    return fail(ErrorKind::illegal_schedule,
                fmt::format("flat_places does not apply to '{}': it is no sum of products of two factors, "
                            "one read in windows along several axes, the other one with a spatial axis of "
                            "its own",
                            stage));
  }
  const FusedAxis rows(compute, factors->places);
  std::vector<Compute> computes;
  computes.push_back(matrix_product(compute, *factors, rows.axis, at_places(compute, factors->data, rows)));
  computes.push_back(pick(compute, *factors, computes.back().output));
  return replace_stage(start, position, std::move(computes));
}

}  // namespace lathe
