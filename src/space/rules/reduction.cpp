// Rule: a reduction without reuse is bound by memory. Vectors run along a spatial axis that every operand
// reads contiguously, from any element on (a window that slides); where there is none, part of the reduction
// runs in the lanes and is added up at the end. Long reductions are cut in parts, whose results are reduced
// in turn. A product of few results is written the same way, a block of results side by side.
#include <algorithm>
#include <cmath>

#include "expr/walk.h"
#include "space/rules/rules.h"
#include "space/vector_part.h"

namespace lathe {
namespace {

// The dimension that lies innermost in memory.
int innermost_dim(const Writer& writer, const Tensor& tensor) {
  const Layout layout = writer.layout_of(tensor);
  return layout.dims.empty() ? -1 : layout.dims.back().dim;
}

// Whether the operand moves by the elements that its layout has innermost.
bool is_contiguous(const Writer& writer, const Compute& compute, const Operand& operand, size_t axis) {
  const auto step = vector_step(compute, *operand.load, {axis});
  if (!step || !step->dim) return false;
  const LayoutDim innermost = writer.layout_of(operand.load->tensor).dims.back();
  return innermost.dim == static_cast<int>(*step->dim) && innermost.divide == step->divisor;
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
      const bool here = is_contiguous(writer, compute, operand, axis);
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
    const auto step = vector_step(compute, *operand.load, {static_cast<size_t>(inner)});
    if (!step || !step->dim) continue;
    writer.set_layout(operand.load->tensor,
                      with_quotients_last(operand.load->tensor, *step->dim, step->divisor));
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
  const double cores = writer.cpu().cores;
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
  int64_t vectors = 1;   // side by side along an axis
  bool lanes = false;    // whether the reduction runs in the lanes
  int64_t together = 1;  // results, or parts of one, side by side where it does
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
  const std::vector<int64_t> together = fills ? powers_of_two(8) : std::vector<int64_t>{1};
  choices.together = writer.choose.choose(name + ".together", together, 4);
  return choices;
}

int64_t size_of_part(const Writer& writer, const Compute& compute, const Parts& parts) {
  const int64_t extent = compute.axes[parts.axis].extent;
  // Lanes must find something to start from in every part, the last one too.
  const int64_t least = parts.axis + 1 == compute.axes.size() ? writer.lanes() : 1;
  int64_t size = ceil_div(ceil_div(extent, parts.count), least) * least;
  while (size < extent && extent % size != 0 && extent % size < least) size += least;
  return size;
}

// Cuts the reduction: gives the nest of the partial results, with the part as its last spatial loop.
Nest write_parts(Writer& writer, const Compute& compute, const Parts& parts) {
  const Axis& axis = compute.axes[parts.axis];
  const int64_t size = size_of_part(writer, compute, parts);
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
  const std::vector<std::string> outer = write_parallel_if_long(writer, compute, nest.block, nest.spatial);
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

// The reduction in scalars.
void write_plainly(Writer& writer, const Nest& nest) {
  const std::vector<std::string> outer = write_parallel(writer, nest.block, nest.spatial);
  if (!outer.empty()) write_results(writer, nest, outer.back());
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

// As many as wanted, or fewer, that leave no rest.
int64_t largest_divisor(int64_t count, int64_t wanted) {
  for (int64_t number = std::min(wanted, count); number > 1; --number) {
    if (count % number == 0) return number;
  }
  return 1;
}

// The same, but more rather than one alone.
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
void write_side_by_side(Writer& writer, const std::string& block,
                        std::vector<std::pair<std::string, int64_t>> spatial,
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
  const std::string at = write_parallel(writer, block, spatial).back();
  for (const std::string& loop : tile) writer.add(AnnotateStep{block, loop + ".1", LoopKind::unrolled});
  writer.add(CacheWriteStep{block, block + ".acc", at, Scope::registers});
  for (const std::string& loop : tile) writer.add(AnnotateStep{block + ".acc.out", loop, LoopKind::unrolled});
  writer.add(AnnotateStep{block + ".acc.out", lane, LoopKind::vectorized});
}

// Partial results in the lanes: the innermost reduce loop is split by the vector width. Where the width does
// not divide it, the last step leaves the lanes beyond its end alone. `sharing` is the number of last axes
// along which results share what they read: a part is then the outer loop around those of all results.
void write_along_reduction(Writer& writer, const Compute& compute, const Choices& choices,
                           size_t sharing = 0) {
  Nest nest(compute);
  std::vector<std::pair<std::string, int64_t>> spatial = nest.spatial;
  const Parts& parts = choices.parts;
  std::string part;
  if (parts.count > 1) {
    const std::string loop = compute.axes[parts.axis].var.name();
    const int64_t size = size_of_part(writer, compute, parts);
    writer.add(SplitStep{nest.block, loop, {size}});
    std::ranges::replace(nest.reduce, loop, loop + ".1");
    part = loop + ".0";
    const auto place = sharing > 0 ? spatial.begin() : spatial.end();
    spatial.emplace(place, part, ceil_div(compute.axes[parts.axis].extent, size));
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
  write_side_by_side(writer, partial, spatial, nest.reduce, choices.together, std::max<size_t>(sharing, 1));
  write_parallel(writer, nest.block, nest.spatial);
}

// The reduce axis is to lie innermost in the operand's memory.
void write_operand_along(Writer& writer, const Compute& compute, const Operand& operand, size_t axis) {
  if (!operand.uses[axis]) return;
  const Tensor& tensor = operand.load->tensor;
  const Layout wanted = with_last(tensor, static_cast<size_t>(operand.step_dim[axis]));
  writer.set_layout(tensor, wanted);
  if (!operand.is_constant || writer.layout_of(tensor) == wanted) return;
  writer.add(CacheReadStep{compute.output->name, tensor->name,
                           writer.name_of_pack(tensor, compute.output->name), "prepare", Scope::workspace,
                           wanted});
}

}  // namespace

Status write_sum_in_lanes(Writer& writer, const Stage& stage) {
  const Compute& compute = writer.compute(stage);
  const size_t last = compute.axes.size() - 1;
  for (const Operand& operand : stage.operands) write_operand_along(writer, compute, operand, last);
  const std::string& name = compute.output->name;
  Choices choices;
  const int64_t needed = needed_parts(writer, compute);
  choices.parts.axis = parted_axis(compute, needed, writer.lanes());
  choices.parts.count = writer.choose.choose(name + ".parts", {needed, 4 * needed}, needed);
  choices.together = writer.choose.choose(name + ".together", {4, 6, 8, 12}, 12);
  write_along_reduction(writer, compute, choices, 2);
  return {};
}

Status write_reduction(Writer& writer, const Stage& stage) {
  const Compute& compute = writer.compute(stage);
  prefer_layouts(writer, compute, stage);
  const Choices choices = choose(writer, compute);
  const auto axis = contiguous_axis(writer, compute, stage);
  if (!axis && choices.lanes) {
    write_along_reduction(writer, compute, choices);
    return {};
  }
  Nest nest(compute, stage.epilogue);
  if (choices.parts.count > 1) {
    nest = write_parts(writer, compute, choices.parts);
    if (choices.parts.axis != compute.spatial_count()) writer.add(ReorderStep{nest.block, loop_names(nest)});
  }
  if (axis) {
    write_along_axis(writer, compute, nest, compute.axes[*axis], choices.vectors);
  } else {
    write_plainly(writer, nest);
  }
  if (choices.parts.count > 1) write_parallel(writer, compute.output->name, Nest(compute).spatial);
  return {};
}

}  // namespace lathe
