// Rule: a reduction without reuse is bound by memory. Vectors run along a spatial axis that every operand
// reads contiguously, from any element on (a window that slides); where there is none, part of the reduction
// runs in the lanes and is added up at the end. Long reductions are cut in parts, whose results are reduced
// in turn.
#include <algorithm>
#include <cmath>

#include "expr/walk.h"
#include "space/rules/rules.h"

namespace lathe {
namespace {

// The dimension that lies innermost in memory.
int innermost_dim(const Writer& writer, const Tensor& tensor) {
  const Layout layout = writer.layout_of(tensor);
  return layout.dims.empty() ? -1 : layout.dims.back().dim;
}

// The spatial axis that moves an element a step in every varying operand's innermost dimension, if there is
// one.
std::optional<size_t> contiguous_axis(const Writer& writer, const Compute& compute, const Stage& stage) {
  for (size_t axis = compute.spatial_count(); axis-- > 0;) {
    if (compute.axes[axis].extent < 2) continue;
    bool contiguous = false;
    bool broken = false;
    for (const Operand& operand : stage.operands) {
      if (!operand.uses[axis]) continue;
      const int inner = innermost_dim(writer, operand.load->tensor);
      const bool here = operand.step_dim[axis] >= 0 && operand.step_dim[axis] == inner;
      contiguous |= here;
      broken |= !here;
    }
    if (contiguous && !broken) return axis;
  }
  return std::nullopt;
}

// Where the operands' layouts are free, memory follows the output: its last axis of some length innermost.
void prefer_layouts(Writer& writer, const Compute& compute, const Stage& stage) {
  const int inner = innermost_dim(writer, compute.output);
  for (const Operand& operand : stage.operands) {
    if (inner < 0 || compute.axes[static_cast<size_t>(inner)].extent < writer.lanes()) return;
    const int dim = operand.step_dim[static_cast<size_t>(inner)];
    if (dim < 0) continue;
    std::vector<int> dims;
    for (int d = 0; d < static_cast<int>(operand.load->index.size()); ++d) {
      if (d != dim) dims.push_back(d);
    }
    dims.push_back(dim);
    writer.set_layout(operand.load->tensor, Layout::permuted(dims));
  }
}

// The nest that reads the operands: the whole reduction, or its partial results.
struct Nest {
  std::string block;
  std::vector<std::pair<std::string, int64_t>> spatial;
  std::vector<std::string> reduce;
  std::optional<size_t> epilogue;  // takes the results where they are made

  explicit Nest(const Compute& compute, std::optional<size_t> taker = std::nullopt)
      : block(compute.output->name), epilogue(taker) {
    for (size_t i = 0; i < compute.axes.size(); ++i) {
      const auto& [var, extent, kind] = compute.axes[i];
      if (kind == AxisKind::spatial) {
        spatial.emplace_back(var.name(), extent);
      } else {
        reduce.push_back(var.name());
      }
    }
  }
};

// The element-wise consumer takes the results where they are made; otherwise they go out from the registers.
void write_results(Writer& writer, const Nest& nest, const std::string& at) {
  if (nest.epilogue) {
    const Tensor& taken = writer.dag.computes[*nest.epilogue].output;
    writer.add(ReverseComputeAtStep{taken->name, nest.block, at, Scope::registers});
  } else {
    writer.add(CacheWriteStep{nest.block, nest.block + ".acc", at, Scope::registers});
  }
}

// Numbers that one sum may add up: it loses some of each beside what is there already. A mean over thousands
// of pixels in one sum is off by 1e-5, which gates and softmax of a trained network make 1e-3.
constexpr double kLongestSum = 512;
// What a core must have to do.
constexpr double kLeastWork = 4096;

// One reduce axis cut in parts.
struct Parts {
  size_t axis = 0;
  int64_t count = 1;  // at the most
};

// How many parts a reduction needs, for sums that stay exact and for work for every core.
int64_t needed_parts(const Writer& writer, const Compute& compute) {
  double results = 1;
  double reduced = 1;
  for (const Axis& axis : compute.axes)
    (axis.kind == AxisKind::spatial ? results : reduced) *= static_cast<double>(axis.extent);
  // The parts are summed up too: more than the root would make that sum the longest.
  const double exact =
      compute.reduction == Reduction::sum ? std::min(reduced / kLongestSum, std::sqrt(reduced)) : 1;
  const double cores = writer.task.cores;
  const double busy = cores <= 1 ? 1 : std::min({8 * cores / results, reduced / kLeastWork});
  return static_cast<int64_t>(std::ceil(std::max({1.0, exact, busy})));
}

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

// The layouts, and with them the way that is taken, may depend on earlier answers: all ways' questions are
// always asked.
struct Choices {
  Parts parts;
  int64_t vectors = 1;  // side by side along an axis
  bool lanes = false;   // whether the reduction runs in the lanes
};

Choices choose(Writer& writer, const Compute& compute) {
  const std::string& name = compute.output->name;
  Choices choices;
  const int64_t needed = needed_parts(writer, compute);
  choices.parts.axis = parted_axis(compute, needed, writer.lanes());
  const std::vector<int64_t> counts = needed == 1 ? std::vector<int64_t>{1} : std::vector{needed, 4 * needed};
  choices.parts.count = writer.choose.choose(name + ".parts", counts, needed);
  choices.vectors = writer.choose.choose(name + ".vectors", vector_counts(writer, compute), 2);
  const bool fills = compute.axes.back().extent >= 2 * writer.lanes();
  choices.lanes = writer.choose.choose_kind(name + ".lanes", fills ? 2 : 1, fills ? 1 : 0) != 0;
  return choices;
}

// Cuts the reduction: gives the nest of the partial results, with the part as its last spatial loop.
Nest write_parts(Writer& writer, const Compute& compute, const Parts& parts) {
  const Axis& axis = compute.axes[parts.axis];
  // Lanes must find something to start from in every part, the last one too.
  const int64_t least = parts.axis + 1 == compute.axes.size() ? writer.lanes() : 1;
  int64_t size = ceil_div(ceil_div(axis.extent, parts.count), least) * least;
  while (size < axis.extent && axis.extent % size != 0 && axis.extent % size < least) size += least;
  const std::string loop = axis.var.name();
  Nest partial(compute);
  writer.add(SplitStep{partial.block, loop, {size}});
  writer.add(RfactorStep{partial.block, loop + ".0"});
  partial.block += ".rf";
  partial.spatial.emplace_back(loop + ".0", ceil_div(axis.extent, size));
  std::ranges::replace(partial.reduce, loop, loop + ".1");
  return partial;
}

std::vector<std::string> loop_names(const Nest& nest) {
  std::vector<std::string> names;
  for (const auto& [loop, extent] : nest.spatial) names.push_back(loop);
  names.insert(names.end(), nest.reduce.begin(), nest.reduce.end());
  return names;
}

void write_along_axis(Writer& writer, Nest nest, const Axis& axis, int64_t wanted) {
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
  const std::vector<std::string> outer = write_parallel(writer, nest.block, nest.spatial);
  writer.add(AnnotateStep{nest.block, vector_loop + ".1", LoopKind::unrolled});
  writer.add(AnnotateStep{nest.block, vector_loop + ".2", LoopKind::vectorized});
  writer.add(TailStep{nest.block, vector_loop, Tail::peel});
  write_results(writer, nest, outer.back());
  if (nest.epilogue) return;
  const std::string out = nest.block + ".acc.out";
  writer.add(SplitStep{out, vector_loop, {lanes}});
  writer.add(AnnotateStep{out, vector_loop + ".0", LoopKind::unrolled});
  writer.add(AnnotateStep{out, vector_loop + ".1", LoopKind::vectorized});
  writer.add(TailStep{out, vector_loop, Tail::peel});
}

// Partial results in the lanes: the innermost reduce loop is split by the vector width. Where the width does
// not divide it, the last step leaves the lanes beyond its end alone.
void write_along_reduction(Writer& writer, const Nest& nest, bool vectors) {
  if (!vectors) {
    const std::vector<std::string> outer = write_parallel(writer, nest.block, nest.spatial);
    if (!outer.empty()) write_results(writer, nest, outer.back());
    return;
  }
  const std::string& last = nest.reduce.back();
  const std::string in_lanes = last + ".1";
  writer.add(SplitStep{nest.block, last, {writer.lanes()}});
  writer.add(RfactorStep{nest.block, in_lanes});
  const std::string partial = nest.block + ".rf";
  const std::vector<std::string> outer = write_parallel(writer, partial, nest.spatial);
  writer.add(AnnotateStep{partial, in_lanes, LoopKind::vectorized});
  if (!outer.empty()) {
    writer.add(CacheWriteStep{partial, partial + ".acc", outer.back(), Scope::registers});
    writer.add(AnnotateStep{partial + ".acc.out", in_lanes, LoopKind::vectorized});
  }
  write_parallel(writer, nest.block, nest.spatial);
}

}  // namespace

Status write_reduction(Writer& writer, const Stage& stage) {
  const Compute& compute = writer.compute(stage);
  prefer_layouts(writer, compute, stage);
  const Choices choices = choose(writer, compute);
  Nest nest(compute, stage.epilogue);
  if (choices.parts.count > 1) {
    nest = write_parts(writer, compute, choices.parts);
    if (choices.parts.axis != compute.spatial_count()) writer.add(ReorderStep{nest.block, loop_names(nest)});
  }
  const auto axis = contiguous_axis(writer, compute, stage);
  if (axis) {
    write_along_axis(writer, nest, compute.axes[*axis], choices.vectors);
  } else {
    write_along_reduction(writer, nest, choices.lanes);
  }
  if (choices.parts.count > 1) write_parallel(writer, compute.output->name, Nest(compute).spatial);
  return {};
}

}  // namespace lathe
