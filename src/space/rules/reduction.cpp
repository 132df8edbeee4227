#include "space/rules/reduction.h"

#include <algorithm>

#include "analysis/vector_part.h"
#include "expr/walk.h"
#include "schedule/apply.h"
#include "space/rules/nest.h"
#include "space/rules/vectors.h"

namespace lathe {
namespace {

// The dimension that lies innermost in memory.
int innermost_dim(const Decider& decider, const Tensor& tensor) {
  const Layout layout = decider.layout_of(tensor);
  return layout.dims.empty() ? -1 : layout.dims.back().dim;
}

// Whether the operand moves by the elements that its layout has innermost.
bool is_contiguous(const Decider& decider, const Compute& compute, const Operand& operand, size_t axis) {
  const auto step = vector_step(compute, *operand.load, {axis});
  if (!step || !step->dim) return false;
  const LayoutDim innermost = decider.layout_of(operand.load->tensor).dims.back();
  return innermost.dim == static_cast<int>(*step->dim) && innermost.divide == step->divisor;
}

// The spatial axis that moves an element a step in every varying operand's innermost dimension, if there is
// one.
std::optional<size_t> contiguous_axis(const Decider& decider, const Compute& compute, const Stage& stage) {
  for (size_t axis = compute.spatial_count(); axis-- > 0;) {
    if (compute.axes[axis].extent < 2) continue;
    bool contiguous = false;
    bool broken = false;
    for (const Operand& operand : stage.operands) {
      if (!operand.uses[axis]) continue;
      const bool here = is_contiguous(decider, compute, operand, axis);
      contiguous |= here;
      broken |= !here;
    }
    if (contiguous && !broken) return axis;
  }
  return std::nullopt;
}

// Where the operands' layouts are free, memory follows the output: its last axis of some length innermost.
void prefer_layouts(Decider& decider, const Compute& compute, const Stage& stage) {
  const int inner = innermost_dim(decider, compute.output);
  for (const Operand& operand : stage.operands) {
    if (inner < 0 || compute.axes[static_cast<size_t>(inner)].extent < decider.lanes()) return;
    const auto step = vector_step(compute, *operand.load, {static_cast<size_t>(inner)});
    if (!step || !step->dim) continue;
    decider.set_layout(operand.load->tensor,
                       with_quotients_last(operand.load->tensor, *step->dim, step->divisor));
  }
}

// The vectors of an element-wise consumer along an axis of the results that it takes.
void write_vectors(Writer& writer, const Compute& epilogue, const Tensor& results, size_t axis) {
  const std::string& block = epilogue.output->name;
  for (const Load* load : loads_of(epilogue.body)) {
    if (load->tensor != results) continue;
    std::vector<Var> vars;
    collect_vars(load->index[axis], vars);
    if (vars.size() != 1) return;
    const std::string loop = side_loop_names(load->index)[axis];
    writer.add(SplitStep{block, loop, {writer.lanes()}});
    writer.add(AnnotateStep{block, loop + ".0", LoopKind::unrolled});
    writer.add(AnnotateStep{block, loop + ".1", LoopKind::vectorized});
    return writer.add(TailStep{block, vars.front().name(), Tail::mask});
  }
}

// The element-wise consumer takes the results where they are made; otherwise they go out from the registers.
void write_results(Writer& writer, const Nest& nest, const std::string& at) {
  if (nest.epilogue) {
    const Tensor& taken = writer.dag.computes[*nest.epilogue].output;
    writer.add(ReverseComputeAtStep{taken->name, nest.block, at, Scope::registers});
  } else {
    writer.add(CacheWriteStep{nest.block, nest.block + ".acc", at, Scope::registers});
  }
}

// Cuts the reduction: gives the nest of the partial results, with the part as its last spatial loop.
Nest write_parts(Writer& writer, const Compute& compute, const Parts& parts) {
  const Axis& axis = compute.axes[parts.axis];
  const std::string loop = axis.var.name();
  Nest partial(compute);
  writer.add(SplitStep{partial.block, loop, {parts.size}});
  writer.add(RfactorStep{partial.block, loop + ".0"});
  partial.block += ".rf";
  partial.spatial.emplace_back(loop + ".0", ceil_div(axis.extent, parts.size));
  std::ranges::replace(partial.reduce, loop, loop + ".1");
  return partial;
}

std::vector<std::string> loop_names(const Nest& nest) {
  std::vector<std::string> names = names_of(nest.spatial);
  names.insert(names.end(), nest.reduce.begin(), nest.reduce.end());
  return names;
}

void write_along_axis(Writer& writer, const Compute& compute, Nest nest, const Axis& axis, int64_t wanted) {
  const std::string& vector_loop = axis.var.name();
  const int64_t lanes = writer.lanes();
  const int64_t vectors = std::min(std::max<int64_t>(1, ceil_div(axis.extent, lanes)), wanted);
  writer.add(SplitStep{nest.block, vector_loop, {vectors, lanes}});
  std::erase_if(nest.spatial, [&](const auto& loop) { return loop.first == vector_loop; });
  nest.spatial.emplace_back(vector_loop + ".0", ceil_div(axis.extent, vectors * lanes));
  ReorderStep reorder{nest.block, loop_names(nest)};
  reorder.loops.push_back(vector_loop + ".1");
  reorder.loops.push_back(vector_loop + ".2");
  writer.add(reorder);
  const SharedLoops outer = share_loops_if_long(writer, compute, nest.spatial);
  write_shared(writer, nest.block, outer);
  writer.add(AnnotateStep{nest.block, vector_loop + ".1", LoopKind::unrolled});
  writer.add(AnnotateStep{nest.block, vector_loop + ".2", LoopKind::vectorized});
  writer.add(TailStep{nest.block, vector_loop, Tail::peel});
  write_results(writer, nest, outer.names.back());
  if (nest.epilogue) {
    const auto number = static_cast<size_t>(&axis - compute.axes.data());
    return write_vectors(writer, writer.dag.computes[*nest.epilogue], compute.output, number);
  }
  const std::string out = nest.block + ".acc.out";
  writer.add(SplitStep{out, vector_loop, {lanes}});
  writer.add(AnnotateStep{out, vector_loop + ".0", LoopKind::unrolled});
  writer.add(AnnotateStep{out, vector_loop + ".1", LoopKind::vectorized});
  writer.add(TailStep{out, vector_loop, Tail::peel});
}

// The reduction in scalars.
void write_plainly(Writer& writer, const Nest& nest) {
  const SharedLoops outer = share_loops(writer, nest.spatial);
  write_shared(writer, nest.block, outer);
  if (!outer.names.empty()) write_results(writer, nest, outer.names.back());
}

}  // namespace

// The layouts, and with them the way that is taken, may depend on earlier answers: all ways' questions are
// always asked.
ReductionDecision decide_reduction(Decider& decider, const Stage& stage) {
  const Compute& compute = decider.compute(stage);
  const std::string& name = compute.output->name;
  ReductionDecision decision{.compute = stage.compute};
  prefer_layouts(decider, compute, stage);
  decision.places = decider.take_places();
  const int64_t needed = needed_parts(decider, compute);
  const std::vector<int64_t> counts = needed == 1 ? std::vector<int64_t>{1} : std::vector{needed, 4 * needed};
  decision.parts = parts_of(decider, compute, needed, decider.choose.choose(name + ".parts", counts, needed));
  decision.vectors = decider.choose.choose(name + ".vectors", vector_counts(decider, compute), 2);
  const bool fills = compute.axes.back().extent >= 2 * decider.lanes();
  decision.in_lanes = decider.choose.choose_kind(name + ".lanes", fills ? 2 : 1, fills ? 1 : 0) != 0;
  const std::vector<int64_t> together = fills ? powers_of_two(8) : std::vector<int64_t>{1};
  decision.together = decider.choose.choose(name + ".together", together, 4);
  decision.vector_axis = contiguous_axis(decider, compute, stage);
  return decision;
}

void write_reduction(Writer& writer, const ReductionDecision& decision) {
  const Compute& compute = writer.dag.computes[decision.compute];
  const Parts& parts = decision.parts;
  write_places(writer, decision.places);
  if (!decision.vector_axis && decision.in_lanes) {
    write_along_reduction(writer, compute, parts, decision.together);
    return;
  }
  Nest nest(compute, writer.stages.of(decision.compute).epilogue);
  if (parts.count > 1) {
    nest = write_parts(writer, compute, parts);
    if (parts.axis != compute.spatial_count()) writer.add(ReorderStep{nest.block, loop_names(nest)});
  }
  if (decision.vector_axis) {
    write_along_axis(writer, compute, nest, compute.axes[*decision.vector_axis], decision.vectors);
  } else {
    write_plainly(writer, nest);
  }
  if (parts.count > 1) write_shared(writer, compute.output->name, share_loops(writer, Nest(compute).spatial));
}

}  // namespace lathe
