#include "space/flextensor/schedule_for_node.h"

#include <algorithm>

#include "space/rules/layouts.h"

namespace lathe {
namespace {

void write_loops(Writer& writer, const NodeNest& nest) {
  for (const SplitStep& split : nest.splits) writer.add(split);
  ReorderStep order{nest.block, {}};
  for (const NestLoop& loop : nest.outer) order.loops.push_back(loop.name);
  for (const NestLoop& loop : nest.inner) order.loops.push_back(loop.name);
  if (order.loops.size() > 1) writer.add(order);
  const auto first = order.loops.begin() + static_cast<std::ptrdiff_t>(nest.first_fused);
  if (nest.fused > 1)
    writer.add(FuseStep{nest.block, {first, first + static_cast<std::ptrdiff_t>(nest.fused)}});
  if (const auto parallel = nest.parallel_loop(); parallel && writer.task.target.cpu().cores > 1)
    writer.add(AnnotateStep{nest.block, nest.outer_names()[*parallel], LoopKind::parallel});
  for (const NestLoop& loop : nest.inner) {
    if (loop.kind != LoopKind::serial) writer.add(AnnotateStep{nest.block, loop.name, loop.kind});
  }
}

// What vectors of results are written to in memory has their axis innermost.
void write_vectors_last(Writer& writer, const NodePlan& plan, const std::string& tensor) {
  if (!plan.nest.vector_axis) return;
  const Tensor& results = writer.dag.computes[plan.compute].output;
  const Layout layout = with_last(results, *plan.nest.vector_axis);
  if (layout != Layout::row_major(results->shape.size())) writer.add(LayoutStep{tensor, layout});
}

}  // namespace

void write_result_loops(Writer& writer, const NodePlan& plan, const std::string& block,
                        std::vector<std::string> loops, size_t outer_loop, bool written_out) {
  const NodeNest& nest = plan.nest;
  std::vector<int64_t> extents;
  for (size_t axis = 0; axis < loops.size(); ++axis) extents.push_back(nest.extent_inside(outer_loop, axis));
  if (nest.vector_axis) {
    const auto place = static_cast<std::ptrdiff_t>(*nest.vector_axis);
    std::rotate(loops.begin() + place, loops.begin() + place + 1, loops.end());
    std::rotate(extents.begin() + place, extents.begin() + place + 1, extents.end());
    if (extents.back() > nest.lanes) {
      const std::string along = loops.back();
      writer.add(SplitStep{block, along, {nest.lanes}});
      loops.back() = along + ".0";
      loops.push_back(along + ".1");
      extents.back() /= nest.lanes;
      extents.push_back(nest.lanes);
    }
    if (loops.size() > 1) writer.add(ReorderStep{block, loops});
  }
  const size_t written = loops.size() - (nest.vector_axis ? 1 : 0);
  for (size_t i = 0; written_out && i < written; ++i) {
    if (extents[i] > 1) writer.add(AnnotateStep{block, loops[i], LoopKind::unrolled});
  }
  if (nest.vector_axis) writer.add(AnnotateStep{block, loops.back(), LoopKind::vectorized});
}

void collect_results(Writer& writer, const NodePlan& plan) {
  const NodeNest& nest = plan.nest;
  const auto tile = nest.tile_loop();
  if (!tile) return;
  const bool in_registers = plan.scope_of_tile() == Scope::registers;
  if (plan.taker && !(plan.gives_tile() && in_registers)) write_vectors_last(writer, plan, nest.block);
  if (plan.gives_tile()) return;
  const std::string copy = nest.block + ".acc";
  writer.add(CacheWriteStep{nest.block, copy, nest.outer_names()[*tile], plan.scope_of_tile()});
  if (!in_registers) write_vectors_last(writer, plan, copy);
  const Compute& compute = writer.dag.computes[plan.compute];
  std::vector<std::string> loops;
  for (size_t axis = 0; axis < compute.spatial_count(); ++axis)
    loops.push_back(compute.axes[axis].var.name());
  const bool goes_on = std::ranges::any_of(nest.outer, &NestLoop::reduces);
  if (goes_on) write_result_loops(writer, plan, copy + ".in", loops, *tile, in_registers);
  write_result_loops(writer, plan, copy + ".out", loops, *tile, in_registers);
}

void schedule_for_node(Writer& writer, const NodePlan& plan) {
  write_places(writer, plan.places);
  write_loops(writer, plan.nest);
  if (plan.reduces && !plan.taker) collect_results(writer, plan);
}

}  // namespace lathe
