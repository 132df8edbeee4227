// Rule: a reduction without reuse is bound by memory. Vectors run along a spatial axis that every operand
// reads contiguously; where there is none, part of the reduction runs in the lanes and is added up at the
// end.
#include <fmt/format.h>

#include <algorithm>

#include "expr/walk.h"
#include "space/rules/rules.h"

namespace lathe {
namespace {

// The dimension that lies innermost in memory.
int innermost_dim(const Writer& writer, const Tensor& tensor) {
  const Layout layout = writer.layout_of(tensor);
  return layout.dims.empty() ? -1 : layout.dims.back().dim;
}

// The spatial axis that indexes every varying operand's innermost dimension, if there is one.
std::optional<size_t> contiguous_axis(const Writer& writer, const Compute& compute, const Stage& stage) {
  for (size_t axis = compute.spatial_count(); axis-- > 0;) {
    if (compute.axes[axis].extent < 2) continue;
    bool contiguous = false;
    bool broken = false;
    for (const Operand& operand : stage.operands) {
      if (!operand.uses[axis]) continue;
      const int inner = innermost_dim(writer, operand.load->tensor);
      const bool here = operand.dim_of_axis[axis] >= 0 && operand.dim_of_axis[axis] == inner;
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
    const int dim = operand.dim_of_axis[static_cast<size_t>(inner)];
    if (dim < 0) continue;
    std::vector<int> dims;
    for (int d = 0; d < static_cast<int>(operand.load->index.size()); ++d) {
      if (d != dim) dims.push_back(d);
    }
    dims.push_back(dim);
    writer.set_layout(operand.load->tensor, Layout::permuted(dims));
  }
}

struct Names {
  std::vector<std::string> reduce;
  std::vector<std::pair<std::string, int64_t>> spatial;
};

Names loop_names(const Compute& compute, std::optional<size_t> without) {
  Names names;
  for (size_t i = 0; i < compute.axes.size(); ++i) {
    if (without && i == *without) continue;
    const std::string& name = compute.axes[i].var.name();
    if (i < compute.spatial_count()) {
      names.spatial.emplace_back(name, compute.axes[i].extent);
    } else {
      names.reduce.push_back(name);
    }
  }
  return names;
}

// The element-wise consumer takes the results where they are made; otherwise they go out from the registers.
void write_results(Writer& writer, const Stage& stage, const std::string& at) {
  const std::string& name = writer.compute(stage).output->name;
  if (stage.epilogue) {
    writer.add(
        ReverseComputeAtStep{writer.dag.computes[*stage.epilogue].output->name, name, at, Scope::registers});
  } else {
    writer.add(CacheWriteStep{name, name + ".acc", at, Scope::registers});
  }
}

// The layouts, and with them the way that is taken, may depend on earlier answers: both ways' questions are
// always asked.
struct Choices {
  int64_t vectors = 1;  // side by side along an axis
  bool lanes = false;   // whether the reduction runs in the lanes
};

Choices choose(Writer& writer, const Compute& compute) {
  const std::string& name = compute.output->name;
  Choices choices;
  choices.vectors = writer.choose.choose(name + ".vectors", vector_counts(writer, compute), 2);
  const bool fills = compute.axes.back().extent >= 2 * writer.lanes();
  choices.lanes = writer.choose.choose_kind(name + ".lanes", fills ? 2 : 1, fills ? 1 : 0) != 0;
  return choices;
}

void write_along_axis(Writer& writer, const Stage& stage, size_t axis, int64_t wanted) {
  const Compute& compute = writer.compute(stage);
  const std::string& name = compute.output->name;
  const std::string& vector_loop = compute.axes[axis].var.name();
  const int64_t lanes = writer.lanes();
  const int64_t most = std::max<int64_t>(1, ceil_div(compute.axes[axis].extent, lanes));
  const int64_t vectors = std::min(most, wanted);
  writer.add(SplitStep{name, vector_loop, {vectors, lanes}});
  Names names = loop_names(compute, axis);
  names.spatial.emplace_back(vector_loop + ".0", ceil_div(compute.axes[axis].extent, vectors * lanes));
  ReorderStep reorder{name, {}};
  for (const auto& [loop, extent] : names.spatial) reorder.loops.push_back(loop);
  reorder.loops.insert(reorder.loops.end(), names.reduce.begin(), names.reduce.end());
  reorder.loops.push_back(vector_loop + ".1");
  reorder.loops.push_back(vector_loop + ".2");
  writer.add(reorder);
  const std::vector<std::string> outer = write_parallel(writer, name, names.spatial);
  writer.add(AnnotateStep{name, vector_loop + ".1", LoopKind::unrolled});
  writer.add(AnnotateStep{name, vector_loop + ".2", LoopKind::vectorized});
  writer.add(TailStep{name, vector_loop, Tail::peel});
  if (stage.epilogue) {
    write_results(writer, stage, outer.back());
    return;
  }
  write_results(writer, stage, outer.back());
  const std::string out = name + ".acc.out";
  writer.add(SplitStep{out, vector_loop, {lanes}});
  writer.add(AnnotateStep{out, vector_loop + ".0", LoopKind::unrolled});
  writer.add(AnnotateStep{out, vector_loop + ".1", LoopKind::vectorized});
  writer.add(TailStep{out, vector_loop, Tail::peel});
}

// Partial results in the lanes: the innermost reduce axis is split by the vector width. Where the width does
// not divide it, the last step leaves the lanes beyond its end alone.
void write_along_reduction(Writer& writer, const Stage& stage, bool vectors) {
  const Compute& compute = writer.compute(stage);
  const std::string& name = compute.output->name;
  const Axis& last = compute.axes.back();
  const int64_t lanes = writer.lanes();
  const Names names = loop_names(compute, std::nullopt);
  if (!vectors) {
    const std::vector<std::string> outer = write_parallel(writer, name, names.spatial);
    if (!outer.empty()) write_results(writer, stage, outer.back());
    return;
  }
  writer.add(SplitStep{name, last.var.name(), {lanes}});
  writer.add(RfactorStep{name, last.var.name() + ".1"});
  const std::string partial = name + ".rf";
  const std::vector<std::string> outer = write_parallel(writer, partial, names.spatial);
  writer.add(AnnotateStep{partial, last.var.name() + ".1", LoopKind::vectorized});
  if (!outer.empty()) writer.add(CacheWriteStep{partial, partial + ".acc", outer.back(), Scope::registers});
  if (!outer.empty())
    writer.add(AnnotateStep{partial + ".acc.out", last.var.name() + ".1", LoopKind::vectorized});
  write_parallel(writer, name, names.spatial);
}

}  // namespace

Status write_reduction(Writer& writer, const Stage& stage) {
  const Compute& compute = writer.compute(stage);
  prefer_layouts(writer, compute, stage);
  const Choices choices = choose(writer, compute);
  const auto axis = contiguous_axis(writer, compute, stage);
  if (axis) {
    write_along_axis(writer, stage, *axis, choices.vectors);
  } else {
    write_along_reduction(writer, stage, choices.lanes);
  }
  return {};
}

}  // namespace lathe
