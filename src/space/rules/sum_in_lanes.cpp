#include "space/rules/sum_in_lanes.h"

#include <algorithm>
#include <cmath>

#include "space/rules/layouts.h"
#include "space/rules/nest.h"
#include "space/rules/vectors.h"

namespace lathe {
namespace {

// The outermost reduce axis that is long enough, or else the longest. One that lies in the lanes gives them
// something in each part.
size_t parted_axis(const Compute& compute, int64_t parts, int64_t lanes) {
  size_t longest = compute.spatial_count();
  for (size_t i = compute.spatial_count(); i < compute.axes.size(); ++i) {
    if (i + 1 == compute.axes.size() && compute.axes[i].extent < 2 * lanes) continue;
    if (compute.axes[i].extent >= parts) return i;
    if (compute.axes[i].extent > compute.axes[longest].extent) longest = i;
  }
  return longest;
}

int64_t size_of_part(const Analysis& analysis, const Compute& compute, const Parts& parts) {
  const int64_t extent = compute.axes[parts.axis].extent;
  // Lanes must find something to start from in every part, the last one too.
  const int64_t least = parts.axis + 1 == compute.axes.size() ? analysis.lanes() : 1;
  int64_t size = ceil_div(ceil_div(extent, parts.count), least) * least;
  while (size < extent && extent % size != 0 && extent % size < least) size += least;
  return size;
}

// Adds up the parts of what each lane has.
void write_sum_of_parts(Writer& writer, const Nest& nest, const std::string& part, const std::string& lane) {
  const std::string block = nest.block + ".rf";
  std::vector<LayoutDim> dims;
  const auto rank = static_cast<int>(nest.spatial.size());
  for (int dim = 0; dim < rank; ++dim) dims.push_back({dim, 1, 0, 0});
  dims.push_back({rank + 1, 1, 0, 0});
  dims.push_back({rank, 1, 0, 0});
  writer.add(LayoutStep{block + ".rf", {dims}});
  ReorderStep order{block, {}};
  for (const auto& [loop, extent] : nest.spatial) order.loops.push_back(loop);
  order.loops.push_back(part);
  order.loops.push_back(lane);
  writer.add(order);
  writer.add(AnnotateStep{block, lane, LoopKind::vectorized});
  if (nest.spatial.empty()) return;
  writer.add(CacheWriteStep{block, block + ".acc", nest.spatial.back().first, Scope::registers});
  writer.add(AnnotateStep{block + ".acc.out", lane, LoopKind::vectorized});
}

// As many as wanted, or fewer, that leave no rest, but more rather than one alone.
int64_t number_together(int64_t count, int64_t wanted) {
  const int64_t fewer = largest_divisor(count, wanted);
  for (int64_t number = wanted + 1; fewer == 1 && wanted > 1 && number <= 8; ++number) {
    if (count % number == 0) return number;
  }
  return fewer;
}

// Several results side by side: the additions of one wait for each other. `spatial` are the block's outer
// loops, of which the last `across` give the results, the innermost most; `reduce` those inside, the last of
// which is in the lanes.
void write_side_by_side(Writer& writer, const std::string& block, OuterLoops spatial,
                        const std::vector<std::string>& reduce, int64_t together, size_t across) {
  const std::string& lane = reduce.back();
  writer.add(AnnotateStep{block, lane, LoopKind::vectorized});
  if (spatial.empty()) return;
  std::vector<std::string> tile;
  for (size_t i = spatial.size(); i-- > spatial.size() - std::min(across, spatial.size());) {
    auto& [loop, extent] = spatial[i];
    // Only one axis may have more than is wanted: the registers would not hold more of both.
    const int64_t number =
        tile.empty() ? number_together(extent, together) : largest_divisor(extent, together);
    writer.add(SplitStep{block, loop, {number}});
    tile.insert(tile.begin(), loop);
    together /= number;
    extent = ceil_div(extent, number);
    loop += ".0";
  }
  ReorderStep order{block, {}};
  for (const auto& [loop, extent] : spatial) order.loops.push_back(loop);
  order.loops.insert(order.loops.end(), reduce.begin(), reduce.end() - 1);
  for (const std::string& loop : tile) order.loops.push_back(loop + ".1");
  order.loops.push_back(lane);
  writer.add(order);
  const SharedLoops outer = share_loops(writer, spatial);
  write_shared(writer, block, outer);
  for (const std::string& loop : tile) writer.add(AnnotateStep{block, loop + ".1", LoopKind::unrolled});
  writer.add(CacheWriteStep{block, block + ".acc", outer.names.back(), Scope::registers});
  for (const std::string& loop : tile) writer.add(AnnotateStep{block + ".acc.out", loop, LoopKind::unrolled});
  writer.add(AnnotateStep{block + ".acc.out", lane, LoopKind::vectorized});
}

// The reduce axis is to lie innermost in the operand's memory.
void place_operand_along(Decider& decider, const Compute& compute, const Operand& operand, size_t axis) {
  if (!operand.uses[axis]) return;
  const Tensor& tensor = operand.load->tensor;
  const Layout wanted = with_last(tensor, static_cast<size_t>(operand.step_dim[axis]));
  decider.set_layout(tensor, wanted);
  if (!operand.is_constant || decider.layout_of(tensor) == wanted) return;
  decider.set_copy(tensor, /*is_constant=*/true, compute.output->name, wanted);
}

}  // namespace

int64_t needed_parts(const Analysis& analysis, const Compute& compute) {
  double results = 1;
  double reduced = 1;
  for (const Axis& axis : compute.axes)
    (axis.kind == AxisKind::spatial ? results : reduced) *= static_cast<double>(axis.extent);
  // A sum loses some of each number beside what is there already: a mean over thousands of pixels in one sum
  // is off by 1e-5, which gates and softmax of a trained network make 1e-3. The parts are summed up too: more
  // than the root would make that sum the longest.
  const double exact = compute.reduction == Reduction::sum
                           ? std::min(reduced / analysis.costs.exact_sum, std::sqrt(reduced))
                           : 1;
  const double cores = analysis.task.target.cpu().cores;
  const double busy = cores <= 1 ? 1 : std::min({8 * cores / results, reduced / analysis.costs.work_of_part});
  return static_cast<int64_t>(std::ceil(std::max({1.0, exact, busy})));
}

Parts parts_of(const Analysis& analysis, const Compute& compute, int64_t needed, int64_t count) {
  Parts parts{.axis = parted_axis(compute, needed, analysis.lanes()), .count = count};
  parts.size = size_of_part(analysis, compute, parts);
  return parts;
}

void write_along_reduction(Writer& writer, const Compute& compute, const Parts& parts, int64_t together,
                           size_t sharing) {
  Nest nest(compute);
  OuterLoops spatial = nest.spatial;
  std::string part;
  if (parts.count > 1) {
    const std::string loop = compute.axes[parts.axis].var.name();
    writer.add(SplitStep{nest.block, loop, {parts.size}});
    std::ranges::replace(nest.reduce, loop, loop + ".1");
    part = loop + ".0";
    const auto place = sharing > 0 ? spatial.begin() : spatial.end();
    spatial.emplace(place, part, ceil_div(compute.axes[parts.axis].extent, parts.size));
  }
  const std::string last = nest.reduce.back();
  const std::string lane = last + ".1";
  writer.add(SplitStep{nest.block, last, {writer.lanes()}});
  writer.add(RfactorStep{nest.block, lane});
  std::string partial = nest.block + ".rf";
  if (parts.count > 1) {
    writer.add(RfactorStep{partial, part});
    partial += ".rf";
    write_sum_of_parts(writer, nest, part, lane);
  }
  nest.reduce.back() = last + ".0";
  nest.reduce.push_back(lane);
  write_side_by_side(writer, partial, spatial, nest.reduce, together, std::max<size_t>(sharing, 1));
  write_shared(writer, nest.block, share_loops(writer, nest.spatial));
}

SumInLanesDecision decide_sum_in_lanes(Decider& decider, const Stage& stage) {
  const Compute& compute = decider.compute(stage);
  const std::string& name = compute.output->name;
  SumInLanesDecision decision{.compute = stage.compute};
  const size_t last = compute.axes.size() - 1;
  for (const Operand& operand : stage.operands) place_operand_along(decider, compute, operand, last);
  decision.places = decider.take_places();
  const int64_t needed = needed_parts(decider, compute);
  const int64_t count = decider.choose.choose(name + ".parts", {needed, 4 * needed}, needed);
  decision.parts = parts_of(decider, compute, needed, count);
  decision.together = decider.choose.choose(name + ".together", {4, 6, 8, 12}, 12);
  return decision;
}

void write_sum_in_lanes(Writer& writer, const SumInLanesDecision& decision) {
  write_places(writer, decision.places);
  write_along_reduction(writer, writer.dag.computes[decision.compute], decision.parts, decision.together, 2);
}

}  // namespace lathe
