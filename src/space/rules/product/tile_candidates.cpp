#include "space/rules/product/tile_candidates.h"

#include <algorithm>
#include <ranges>

#include "expr/loop_counts.h"
#include "expr/walk.h"
#include "space/rules/vectors.h"

namespace lathe {
namespace {

bool some_operand_uses(const Stage& stage, size_t axis) {
  return std::ranges::any_of(stage.operands, [&](const Operand& operand) { return operand.uses[axis]; });
}

// Whether vectors along this axis can be loaded aligned: packed beforehand, packed in a copy, or contiguous
// by layout.
bool can_fill_vectors(const Compute& compute, const Stage& stage, size_t axis) {
  return compute.axes[axis].extent >= 2 && some_operand_uses(stage, axis) &&
         std::ranges::all_of(stage.operands, [&](const Operand& operand) {
           return !operand.uses[axis] || operand.dim_of_axis[axis] >= 0;
         });
}

// Whether they can be loaded at all, as along the rows of an image under a window: contiguous by layout, from
// any element on.
bool can_slide_vectors(const Compute& compute, const Stage& stage, size_t axis) {
  return compute.axes[axis].extent >= 2 && some_operand_uses(stage, axis) &&
         std::ranges::all_of(stage.operands, [&](const Operand& operand) {
           return !operand.uses[axis] || operand.step_dim[axis] >= 0;
         });
}

// Whether the operand's elements along this axis lie side by side, or can be brought there.
bool lie_side_by_side(const Task& task, const Dag& dag, const Operand& operand, size_t axis) {
  return lie_side_by_side(task, dag, *operand.load, operand.step_dim[axis]);
}

// A tile that uses nothing twice, or vectors gathered element by element of what no copy brings together: an
// operand that has the rows, too, is never packed.
bool is_poor(const Task& task, const Dag& dag, const Stage& stage, const TileAxes& tile) {
  return !tile.rows || std::ranges::any_of(stage.operands, [&](const Operand& operand) {
    return operand.uses[tile.vector] && operand.uses[*tile.rows] &&
           !lie_side_by_side(task, dag, operand, tile.vector);
  });
}

// Whether a window slides along this axis over elements that lie side by side: what a reduction takes as it
// is (rules/reduction.cpp).
bool slides_in_memory(const Task& task, const Dag& dag, const Compute& compute, const Stage& stage,
                      size_t axis) {
  return can_slide_vectors(compute, stage, axis) && !can_fill_vectors(compute, stage, axis) &&
         compute.axes[axis].extent >= stage.lanes &&
         std::ranges::all_of(stage.operands, [&](const Operand& operand) {
           return !operand.uses[axis] || lie_side_by_side(task, dag, operand, axis);
         });
}

// What a tile of this many rows and two vectors loads for each multiply-add.
double loads_of_tile(const Stage& stage, const TileAxes& tile, double rows) {
  constexpr double kVectors = 2;
  double loads = 0;
  for (const Operand& operand : stage.operands) {
    const double vectors = operand.uses[tile.vector] ? kVectors : 1;
    loads += tile.rows && operand.uses[*tile.rows] ? vectors * rows : vectors;
  }
  return loads / (kVectors * rows);
}

// With some more vectors four rows do as well as six.
double useful_rows(const Compute& compute, const TileAxes& tile, const CostConstants& costs) {
  const int64_t rows = tile.rows ? compute.axes[*tile.rows].extent : 1;
  return static_cast<double>(std::min(rows, whole(costs.promised_rows)));
}

double promise(const Task& task, const Dag& dag, const Compute& compute, const Stage& stage,
               const TileAxes& tile, const CostConstants& costs) {
  const int lanes = stage.lanes;
  const int64_t vector = compute.axes[tile.vector].extent;
  const double lanes_used =
      static_cast<double>(vector) / static_cast<double>(ceil_div(vector, lanes) * lanes);
  const int64_t useful_lanes = std::min(vector, whole(costs.promised_vectors) * lanes);
  double score = lanes_used * static_cast<double>(useful_lanes) * useful_rows(compute, tile, costs) /
                 (1 + loads_of_tile(stage, tile, useful_rows(compute, tile, costs)) +
                  gathered_loads(task, dag, compute, stage, tile, costs) +
                  scattered_stores(task, dag, compute, stage, tile));
  for (const Operand& operand : stage.operands) {
    if (operand.uses[tile.vector] && (operand.is_constant || operand.is_prepared))
      score *= costs.constant_panels;
  }
  return score;
}

// Whether a window slides along the rows over vectors, which neighbouring rows then share.
bool rows_share_vectors(const Compute& compute, const Stage& stage, size_t vector, size_t rows) {
  return std::ranges::any_of(stage.operands, [&](const Operand& operand) {
    return operand.uses[vector] && window_over_vectors(compute, operand, vector, rows).has_value();
  });
}

// The longest axis that some operand without the vector axis, or every operand, has; before others one
// whose rows share vectors.
std::optional<size_t> rows_for(const Compute& compute, const Stage& stage, size_t vector) {
  std::optional<size_t> rows;
  bool rows_share = false;
  for (size_t u = 0; u < compute.spatial_count(); ++u) {
    const bool reused = std::ranges::any_of(
        stage.operands, [&](const Operand& operand) { return operand.uses[vector] && !operand.uses[u]; });
    if (u == vector || !reused || compute.axes[u].extent < 2) continue;
    const bool shares = rows_share_vectors(compute, stage, vector, u);
    const bool is_long = !rows || compute.axes[u].extent >= compute.axes[*rows].extent;
    if (rows && (shares == rows_share ? !is_long : !shares)) continue;
    rows = u;
    rows_share = shares;
  }
  return rows;
}

// Whether the sum is long and its results are fewer than the additions that the units have under way at once.
bool is_long_sum(const Task& task, const Compute& compute, int lanes, const CostConstants& costs) {
  double results = 1;
  for (const Axis& axis : compute.axes | std::views::take(compute.spatial_count()))
    results *= static_cast<double>(axis.extent);
  const CpuTarget& target = task.target.cpu();
  return results < static_cast<double>(lanes * target.fma_per_cycle * target.fma_latency_cycles) &&
         points_of(compute) >= results * costs.long_sum * lanes;
}

// Vectors along the last axis of the reduction.
std::optional<TileAxes> tile_along_sum(const Task& task, const Dag& dag, const Compute& compute,
                                       const Stage& stage, const CostConstants& costs) {
  const size_t last = compute.axes.size() - 1;
  const bool is_in_memory = std::ranges::all_of(stage.operands, [&](const Operand& operand) {
    return !operand.uses[last] || (operand.step_dim[last] >= 0 && lie_side_by_side(task, dag, operand, last));
  });
  const bool fills = compute.axes[last].extent >= 2 * stage.lanes;
  if (!fills || !is_in_memory || !is_long_sum(task, compute, stage.lanes, costs)) return std::nullopt;
  return TileAxes{last, std::nullopt};
}

// Whether places of some axis read an operand's elements together.
bool has_windows(const Compute& compute, const Stage& stage) {
  const auto is_under_window = [&](const Affine& index) {
    bool has_place = false, has_tap = false;
    for (size_t i = 0; i < compute.axes.size(); ++i) {
      if (compute.axes[i].extent == 1 || !index.uses(compute.axes[i].var)) continue;
      (i < compute.spatial_count() ? has_place : has_tap) = true;
    }
    return has_place && has_tap;
  };
  return std::ranges::any_of(stage.operands, [&](const Operand& operand) {
    return std::ranges::any_of(operand.load->index, is_under_window);
  });
}

// The dimension of an argument whose elements lie side by side, where its layout is given.
std::optional<int> innermost_if_given(const Task& task, const Tensor& tensor) {
  const auto argument = std::ranges::find(task.arguments, tensor, &Argument::tensor);
  if (argument == task.arguments.end() || argument->is_constant || argument->layout_is_free)
    return std::nullopt;
  return argument->layout.dims.empty() ? static_cast<int>(tensor->shape.size()) - 1
                                       : argument->layout.dims.back().dim;
}

// The only load of a compute, but for those of tables, if it has one: what is moved, padded, transformed or
// computed point by point from elements that lie apart has to gather them. None of a choice among elements.
const Load* only_data(const Compute* compute) {
  if (compute == nullptr || compute->reduction == Reduction::max || compute->reduction == Reduction::min)
    return nullptr;
  const Load* data = nullptr;
  for (const Load* load : loads_of(compute->body)) {
    if (!load->tensor->literal.empty()) continue;
    if (data != nullptr) return nullptr;
    data = load;
  }
  return data;
}

}  // namespace

bool lie_side_by_side(const Task& task, const Dag& dag, const Load& read, int dim) {
  const Load* load = &read;
  const Compute* producer = dag.producer(load->tensor);
  for (const Load* data = only_data(producer); data != nullptr; data = only_data(producer)) {
    const auto steps = [&](const Affine& index) {
      return dim >= 0 && std::abs(index.coefficient(producer->axes[static_cast<size_t>(dim)].var)) == 1;
    };
    const auto found = std::ranges::find_if(data->index, steps);
    dim = found == data->index.end() ? -1 : static_cast<int>(found - data->index.begin());
    load = data;
    producer = dag.producer(load->tensor);
  }
  const std::optional<int> inner = innermost_if_given(task, load->tensor);
  return dim >= 0 && (!inner || dim == *inner);
}

// Elements that lie apart are loaded one by one: each time, or once into a panel, where the operand has one
// (ProductDecider::is_read_in_place).
double gathered_loads(const Task& task, const Dag& dag, const Compute& compute, const Stage& stage,
                      const TileAxes& tile, const CostConstants& costs) {
  const double rows = useful_rows(compute, tile, costs);
  double loads = 0;
  for (const Operand& operand : stage.operands) {
    if (!operand.uses[tile.vector] || lie_side_by_side(task, dag, operand, tile.vector)) continue;
    const bool has_rows = tile.rows && operand.uses[*tile.rows];
    const double reuse = reuse_of(compute, operand);
    const bool is_packed =
        !has_rows && operand.dim_of_axis[tile.vector] >= 0 && reuse >= costs.reuse_worth_packing;
    const double of_vector = is_packed ? stage.lanes / reuse : stage.lanes - 1;
    loads += has_rows ? of_vector : of_vector / rows;
  }
  return loads;
}

// An extract and a store for each element but the first. Vectors that slide over windows instead cross lines
// and borders, which is not counted either and takes longer.
double scattered_stores(const Task& task, const Dag& dag, const Compute& compute, const Stage& stage,
                        const TileAxes& tile) {
  if (tile.runs_along_reduction(compute) || has_windows(compute, stage)) return 0;
  const Compute& last = stage.epilogue ? dag.computes[*stage.epilogue] : compute;
  const std::optional<int> inner = innermost_if_given(task, last.output);
  if (!inner) return 0;
  const Axis& along = last.axes[static_cast<size_t>(*inner)];
  Affine place(compute.axes[tile.vector].var);
  for (const Load* load : loads_of(last.body)) {
    if (load->tensor == compute.output) place = load->index[tile.vector];
  }
  if (place.uses(along.var)) return 0;
  const double terms = points_of(compute) / static_cast<double>(compute.output.elements());
  return (stage.lanes - 1) / terms;
}

double reuse_of(const Compute& compute, const Operand& operand) {
  double reuse = 1;
  for (size_t i = 0; i < compute.spatial_count(); ++i) {
    if (!operand.uses[i]) reuse *= static_cast<double>(compute.axes[i].extent);
  }
  return reuse;
}

std::optional<size_t> window_over_vectors(const Compute& compute, const Operand& operand, size_t vector,
                                          size_t rows) {
  if (operand.step_dim[vector] < 0) return std::nullopt;
  for (size_t r = compute.axes.size(); r-- > compute.spatial_count();) {
    const int dim = operand.step_dim[r];
    if (dim >= 0 && compute.axes[r].extent > 1 &&
        operand.load->index[static_cast<size_t>(dim)].uses(compute.axes[rows].var))
      return r;
  }
  return std::nullopt;
}

std::vector<TileAxes> tile_candidates(const Task& task, const Dag& dag, const Compute& compute,
                                      const Stage& stage, const CostConstants& costs) {
  std::vector<TileAxes> candidates;
  const auto score = [&](const TileAxes& tile) { return promise(task, dag, compute, stage, tile, costs); };
  bool slides = false;
  for (size_t axis = 0; axis < compute.spatial_count(); ++axis)
    slides |= slides_in_memory(task, dag, compute, stage, axis);
  double best = 0;
  for (size_t v = 0; v < compute.spatial_count(); ++v) {
    const TileAxes tile{v, rows_for(compute, stage, v)};
    if (!can_fill_vectors(compute, stage, v) || (slides && is_poor(task, dag, stage, tile))) continue;
    candidates.push_back(tile);
    best = std::max(best, score(tile));
  }
  // Vectors that slide are loaded from anywhere: they are for products whose other axes leave lanes empty. Of
  // axes alike the last, which row-major tensors have innermost.
  for (size_t v = compute.spatial_count(); v-- > 0;) {
    if (can_fill_vectors(compute, stage, v) || !can_slide_vectors(compute, stage, v)) continue;
    const TileAxes tile{v, rows_for(compute, stage, v)};
    if (tile.rows && score(tile) > best) candidates.push_back(tile);
  }
  std::ranges::stable_sort(candidates, std::greater<>(), score);
  if (const auto along = tile_along_sum(task, dag, compute, stage, costs))
    candidates.insert(candidates.begin() + std::min<std::ptrdiff_t>(1, std::ssize(candidates)), *along);
  return candidates;
}

}  // namespace lathe
