#include "space/templates/tiling.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/walk.h"
#include "schedule/apply.h"
#include "space/program_length.h"
#include "space/rules/vectors.h"

namespace lathe {
namespace {

void annotate(Writer& writer, const std::string& block, const std::string& loop, LoopKind kind) {
  if (kind != LoopKind::serial) writer.add(AnnotateStep{block, loop, kind});
}

// Of a tile's loop in a block that moves results: what `loop` is there.
void annotate_tile_loop(Writer& writer, const std::string& block, const TileLoop& tile,
                        const std::string& loop, const std::string& lane_loop) {
  annotate(writer, block, loop, tile.lane_loop.empty() ? tile.kind : LoopKind::unrolled);
  if (!tile.lane_loop.empty()) annotate(writer, block, lane_loop, LoopKind::vectorized);
}

// The loops of a block that takes the results of a tile: it has one for each dimension, of these names.
void write_taker(Writer& writer, const Tiling& tiling, const std::string& block,
                 const std::vector<std::string>& names) {
  ReorderStep order{block, {}};
  for (const TileLoop& tile : tiling.tile) {
    const std::string& name = names[tile.axis];
    if (tile.lane_loop.empty()) {
      order.loops.push_back(name);
      continue;
    }
    writer.add(SplitStep{block, name, {tile.lanes}});
    order.loops.push_back(name + ".0");
    order.loops.push_back(name + ".1");
  }
  if (order.loops.size() > 1) writer.add(order);
  for (const TileLoop& tile : tiling.tile) {
    const std::string& name = names[tile.axis];
    annotate_tile_loop(writer, block, tile, tile.lane_loop.empty() ? name : name + ".0", name + ".1");
  }
}

// In memory a tile's results lie in the order of its loops; registers have no order.
void write_order_of_results(Writer& writer, const Tiling& tiling, const std::string& tensor, size_t rank) {
  if (tiling.scope == Scope::registers) return;
  std::vector<int> dims;
  const auto is_of_tile = [&](size_t dim) {
    return std::ranges::find(tiling.tile, dim, &TileLoop::axis) != tiling.tile.end();
  };
  for (size_t dim = 0; dim < rank; ++dim) {
    if (!is_of_tile(dim)) dims.push_back(static_cast<int>(dim));
  }
  for (const TileLoop& tile : tiling.tile) dims.push_back(static_cast<int>(tile.axis));
  if (!std::ranges::is_sorted(dims)) writer.add(LayoutStep{tensor, Layout::permuted(dims)});
}

// The element-wise consumer takes the results where there is one, else a copy.
void write_results(Writer& writer, const Tiling& tiling) {
  const Stage& stage = writer.stages.of(tiling.stage);
  const Compute& compute = writer.compute(stage);
  const std::string& block = compute.output->name;
  const std::string& at = tiling.shared.names.back();
  const size_t rank = compute.spatial_count();
  if (!stage.epilogue) {
    const std::string copy = block + ".acc";
    std::vector<std::string> names;
    for (size_t dim = 0; dim < rank; ++dim) names.push_back(compute.axes[dim].var.name());
    writer.add(CacheWriteStep{block, copy, at, tiling.scope});
    write_order_of_results(writer, tiling, copy, rank);
    return write_taker(writer, tiling, copy + ".out", names);
  }
  const Compute& epilogue = writer.dag.computes[*stage.epilogue];
  writer.add(ReverseComputeAtStep{epilogue.output->name, block, at, tiling.scope});
  write_order_of_results(writer, tiling, block, rank);
  for (const Load* load : loads_of(epilogue.body)) {
    if (load->tensor == compute.output)
      return write_taker(writer, tiling, epilogue.output->name, side_loop_names(load->index));
  }
}

}  // namespace

std::string part_of(const Axis& axis, size_t part) { return fmt::format("{}.{}", axis.var.name(), part); }

TileLoop split_tile_loop(Tiling& tiling, const Compute& compute, size_t axis, std::vector<int64_t> factors,
                         LoopKind kind, int64_t lanes) {
  TileLoop tile{.axis = axis,
                .loop = part_of(compute.axes[axis], factors.size()),
                .extent = factors.back(),
                .kind = kind};
  if (kind == LoopKind::vectorized) {
    tile.lanes = largest_divisor(tile.extent, lanes);
    tile.lane_loop = part_of(compute.axes[axis], factors.size() + 1);
    factors.back() = tile.vectors();
    factors.push_back(tile.lanes);
  }
  tiling.splits.push_back({compute.output->name, compute.axes[axis].var.name(), std::move(factors)});
  return tile;
}

Scope scope_of_results(const Tiling& tiling, const CostConstants& costs) {
  int64_t accumulators = 1;
  for (const TileLoop& tile : tiling.tile) {
    if (tile.kind == LoopKind::serial && tile.extent > 1) return Scope::thread;
    accumulators *= tile.vectors();
  }
  return accumulators <= whole(costs.largest_body) ? Scope::registers : Scope::thread;
}

Status check_length_of(const Tiling& tiling, std::string_view block) {
  int64_t statements = 1;
  for (const TileLoop& tile : tiling.tile) {
    if (tile.kind != LoopKind::serial) statements *= tile.statements();
  }
  for (const SumLoop& sum : tiling.sums) {
    if (sum.kind != LoopKind::serial) statements *= sum.extent;
  }
  return check_length(block, statements);
}

void write_tiling(Writer& writer, const Tiling& tiling) {
  const std::string& block = writer.compute(writer.stages.of(tiling.stage)).output->name;
  write_places(writer, tiling.places);
  for (const SplitStep& split : tiling.splits) writer.add(split);
  ReorderStep order{block, names_of(tiling.tiles)};
  for (const SumLoop& sum : tiling.sums) order.loops.push_back(sum.loop);
  for (const TileLoop& tile : tiling.tile) {
    order.loops.push_back(tile.loop);
    if (!tile.lane_loop.empty()) order.loops.push_back(tile.lane_loop);
  }
  if (!tiling.group_loop.empty()) order.loops.push_back(tiling.group_loop);
  writer.add(order);
  write_shared(writer, block, tiling.shared);
  for (const SumLoop& sum : tiling.sums) annotate(writer, block, sum.loop, sum.kind);
  for (const TileLoop& tile : tiling.tile) annotate_tile_loop(writer, block, tile, tile.loop, tile.lane_loop);
  if (!tiling.intrinsic.empty()) writer.add(TensorizeStep{block, tiling.group_loop, tiling.intrinsic});
  write_results(writer, tiling);
}

}  // namespace lathe
