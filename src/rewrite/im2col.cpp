#include "rewrite/im2col.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/walk.h"
#include "rewrite/match.h"

namespace lathe {
namespace {

constexpr double kMostElements = 1 << 27;

std::unexpected<Error> refuse(const std::string& stage, const std::string& reason) {
  return fail(ErrorKind::illegal_schedule, fmt::format("im2col does not apply to '{}': {}", stage, reason));
}

bool uses_axis(const Load& load, const Axis& axis) {
  return std::ranges::any_of(load.index, [&](const Affine& index) { return index.uses(axis.var); });
}

// A product's operands, and its axes (indices into axes) by the part that they play.
struct WindowedOperands {
  const Load* data = nullptr;
  const Load* other = nullptr;
  std::vector<size_t> common;    // spatial, of both operands
  std::vector<size_t> filters;   // spatial, of the other one alone
  std::vector<size_t> places;    // spatial, of the data alone: the rows of the matrix
  std::vector<size_t> windows;   // reduce, in one index with a place
  std::vector<size_t> channels;  // reduce, the data's others
};

// Whether an index of the data has both a place and this reduce axis.
bool is_window(const Compute& compute, const WindowedOperands& operands, const Axis& reduced) {
  return std::ranges::any_of(operands.data->index, [&](const Affine& index) {
    return index.uses(reduced.var) && std::ranges::any_of(operands.places, [&](size_t place) {
             return index.uses(compute.axes[place].var);
           });
  });
}

WindowedOperands parts_of(const Compute& compute, const Load& data, const Load& other) {
  WindowedOperands operands{&data, &other, {}, {}, {}, {}, {}};
  for (size_t a = 0; a < compute.spatial_count(); ++a) {
    const bool of_data = uses_axis(data, compute.axes[a]);
    const bool of_other = uses_axis(other, compute.axes[a]);
    // An axis that neither has repeats results: any place for it will do.
    (of_data && of_other ? operands.common : of_data ? operands.places : operands.filters).push_back(a);
  }
  for (size_t r = compute.spatial_count(); r < compute.axes.size(); ++r) {
    if (!uses_axis(data, compute.axes[r])) continue;
    (is_window(compute, operands, compute.axes[r]) ? operands.windows : operands.channels).push_back(r);
  }
  return operands;
}

std::optional<WindowedOperands> match_windows(const Compute& compute) {
  const Binary* product = compute.reduction == Reduction::sum ? compute.body.as<Binary>() : nullptr;
  if (product == nullptr || product->op != BinaryOp::mul) return std::nullopt;
  const Load* a = product->a.as<Load>();
  const Load* b = product->b.as<Load>();
  if (a == nullptr || b == nullptr || !a->tensor->literal.empty() || !b->tensor->literal.empty())
    return std::nullopt;
  const auto fits = [&](const WindowedOperands& operands) {
    return !operands.windows.empty() && std::ranges::any_of(operands.filters, [&](size_t filter) {
      return compute.axes[filter].extent > 1;
    });
  };
  for (const WindowedOperands& operands : {parts_of(compute, *a, *b), parts_of(compute, *b, *a)}) {
    if (fits(operands)) return operands;
  }
  return std::nullopt;
}

// Several axes as one, the last of which runs fastest; axes of one place have no part in it.
struct FusedAxis {
  Axis axis;
  Substitution parts;  // each axis in terms of the fused one

  FusedAxis(const Compute& compute, const std::vector<size_t>& axes) {
    std::string name;
    int64_t extent = 1;
    for (const size_t a : axes) {
      if (compute.axes[a].extent > 1) name += compute.axes[a].var.name();
      extent *= compute.axes[a].extent;
    }
    axis = spatial(name.empty() ? compute.axes[axes[0]].var.name() : name, extent);
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
std::vector<size_t> reduced_axes(const WindowedOperands& operands) {
  std::vector<size_t> axes = operands.windows;
  axes.insert(axes.end(), operands.channels.begin(), operands.channels.end());
  return axes;
}

// O.col[common.., m, k.., c..] = data[.., y(m) * s + k * d, ..]
Compute matrix_of(const Compute& compute, const WindowedOperands& operands, const FusedAxis& rows) {
  Substitution values = rows.parts;
  std::vector<Axis> axes = fresh_axes(compute, operands.common, values);
  axes.push_back(rows.axis);
  for (const Axis& axis : fresh_axes(compute, reduced_axes(operands), values)) axes.push_back(axis);
  Ranges known;
  for (const Axis& axis : axes) known.set_extent(axis.var, axis.extent);
  const Load& data = *operands.data;
  const Expr element = simplify_indices(substitute(load(data.tensor, data.index), values), known);
  return {Tensor(compute.output->name + ".col", extents_of(axes), data.tensor->dtype), axes, Reduction::none,
          element};
}

// O.G[common.., of other.., m] = sum over all that O sums over of O.col * other
Compute matrix_product(const Compute& compute, const WindowedOperands& operands, const Axis& rows,
                       const Tensor& matrix) {
  std::vector<Axis> axes;
  std::vector<Affine> index;
  for (const size_t a : operands.common) {
    axes.push_back(compute.axes[a]);
    index.emplace_back(axes.back().var);
  }
  for (const size_t a : operands.filters) axes.push_back(compute.axes[a]);
  axes.push_back(spatial(rows.var.name(), rows.extent));
  index.emplace_back(axes.back().var);
  const std::vector<int64_t> shape = extents_of(axes);
  for (const size_t r : reduced_axes(operands)) {
    axes.push_back(compute.axes[r]);
    index.emplace_back(axes.back().var);
  }
  for (size_t r = compute.spatial_count(); r < compute.axes.size(); ++r) {
    if (!uses_axis(*operands.data, compute.axes[r])) axes.push_back(compute.axes[r]);
  }
  return {Tensor(compute.output->name + ".G", shape, compute.output->dtype), axes, Reduction::sum,
          load(matrix, index) * load(operands.other->tensor, operands.other->index)};
}

Compute pick(const Compute& compute, const WindowedOperands& operands, const Tensor& product) {
  std::vector<Axis> axes;
  for (size_t a = 0; a < compute.spatial_count(); ++a)
    axes.push_back(spatial(compute.axes[a].var.name(), compute.axes[a].extent));
  std::vector<Affine> index;
  for (const auto* plain : {&operands.common, &operands.filters}) {
    for (const size_t a : *plain) index.emplace_back(axes[a].var);
  }
  Affine row;
  for (const size_t a : operands.places) {
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
  const auto operands = match_windows(compute);
  if (!operands) {
    return refuse(stage,
                  "it is no sum of products of which one factor is read in windows and the other has "
                  "a spatial axis of its own");
  }
  const FusedAxis rows(compute, operands->places);
  std::vector<Compute> computes;
  computes.push_back(matrix_of(compute, *operands, rows));
  double elements = 1;
  for (const int64_t extent : computes.back().output->shape) elements *= static_cast<double>(extent);
  if (elements > kMostElements) return refuse(stage, fmt::format("its matrix has {:.0f} elements", elements));
  computes.push_back(matrix_product(compute, *operands, rows.axis, computes.back().output));
  computes.push_back(pick(compute, *operands, computes.back().output));
  return replace_stage(dag, position, std::move(computes));
}

}  // namespace lathe
