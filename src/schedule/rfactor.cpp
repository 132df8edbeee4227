// rfactor: part of a reduction becomes a spatial axis, so that its partial results can be computed side by
// side.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/primitive.h"

namespace lathe {
namespace {

// The block that computes the partial results: the factored loop is a spatial axis, every other reduce loop a
// reduce axis of its own, and the body's reduce axes are their bindings in these.
struct Partial {
  Block block;
  Substitution loops_to_axes;
};

Partial partial_block(const Located& located, const Var& factored, int64_t extent, const Tensor& tensor) {
  Partial partial;
  const Block& source = *located.block;
  Block& block = partial.block;
  block = source;
  block.name = source.name + ".rf";
  block.output = tensor;
  block.axes.clear();
  for (const BlockAxis& axis : source.axes) {
    if (axis.axis.kind == AxisKind::spatial) block.axes.push_back(axis);
  }
  const Axis factor = spatial(factored.name(), extent);
  block.axes.push_back({factor, Affine(factored), Tail::guard});
  block.output_index.emplace_back(factor.var);
  partial.loops_to_axes.emplace_back(factored, Affine(factor.var));
  for (size_t i : reduce_loops(located)) {
    const For& loop = located.loop_at(i);
    if (loop.var == factored) continue;
    const Axis axis = reduce(loop.var.name(), constant_extent(loop));
    block.axes.push_back({axis, Affine(loop.var), Tail::guard});
    partial.loops_to_axes.emplace_back(loop.var, Affine(axis.var));
  }
  Substitution reduce_axes;
  for (const BlockAxis& axis : source.axes) {
    if (axis.axis.kind != AxisKind::reduce) continue;
    reduce_axes.emplace_back(axis.axis.var, substitute(axis.binding, partial.loops_to_axes));
  }
  block.value = substitute(source.value, reduce_axes);
  // The conjuncts that guarded reduce axes now stand on their own.
  const auto spatial_axes = static_cast<int>(source.output_index.size());
  for (Conjunct& conjunct : block.predicate) {
    if (conjunct.axis >= spatial_axes) conjunct.axis = -1;
  }
  return partial;
}

// output[spatial..] = reduction over f of tensor[spatial.., f]
Block final_block(const Block& source, const Tensor& tensor, const std::string& axis_name, int64_t extent) {
  Block block;
  block.name = source.name;
  block.output = source.output;
  block.reduction = source.reduction;
  block.initialises = source.initialises;
  for (const BlockAxis& axis : source.axes) {
    if (axis.axis.kind != AxisKind::spatial) continue;
    const Axis renamed = spatial(axis.axis.var.name(), axis.axis.extent);
    block.axes.push_back({renamed, Affine(renamed.var), Tail::guard});
    block.output_index.emplace_back(renamed.var);
  }
  const Axis factor = reduce(axis_name, extent);
  block.axes.push_back({factor, Affine(factor.var), Tail::guard});
  std::vector<Affine> index = block.output_index;
  index.emplace_back(factor.var);
  block.value = load(tensor, index);
  return block;
}

// Each partial result needs a first instance to start from: with all other reduce loops at 0 none of its
// iterations may lie beyond the domain.
Status check_no_empty_part(const Located& located, const For& factored) {
  Substitution first;
  for (size_t i : reduce_loops(located)) {
    const For& loop = located.loop_at(i);
    if (loop.var != factored.var) first.emplace_back(loop.var, Affine(0));
  }
  const Ranges ranges = ranges_of(located.path);
  for (const Conjunct& conjunct : located.block->predicate) {
    if (!conjunct.value.uses(factored.var)) continue;
    const auto interval = bounds(substitute(conjunct.value, first), ranges);
    if (interval && interval->hi < conjunct.bound) continue;
    return illegal(fmt::format("an iteration of loop '{}' may have nothing to reduce", factored.var.name()));
  }
  return {};
}

}  // namespace

Result<Program> rfactor(const Program& program, const RfactorStep& step) {
  LATHE_TRY(const Located located, locate(program, step.block));
  LATHE_TRY(const size_t position, located.loop(step.loop));
  const Block& source = *located.block;
  const For& loop = located.loop_at(position);
  const int64_t extent = constant_extent(loop);
  if (source.reduction == Reduction::none || !source.initialises) {
    return illegal(fmt::format("block '{}' does not reduce from its beginning", step.block));
  }
  if (!drives_reduce_axis(source, loop.var)) {
    return illegal(fmt::format("loop '{}' drives no reduce axis of block '{}'", step.loop, step.block));
  }
  for (const BlockAxis& axis : source.axes) {
    if (axis.axis.kind == AxisKind::spatial && axis.binding.uses(loop.var)) {
      return illegal(fmt::format("loop '{}' drives a spatial axis of block '{}' too", step.loop, step.block));
    }
  }
  if (located.in_prepare) return illegal("rfactor works on main only");
  LATHE_TRY_STATUS(check_no_empty_part(located, loop));
  const StmtNode* nest = own_nest(located);
  const Stmt& top = *std::ranges::find_if(located.path, [&](const Stmt& stmt) { return stmt.get() == nest; });
  for (const Stmt& stmt : located.path) {
    if (stmt == top) break;
    const For* outer = as<For>(stmt);
    const auto driven = [&](const BlockAxis& axis) { return axis.binding.uses(outer->var); };
    if (outer == nullptr || std::ranges::none_of(source.axes, driven)) continue;
    return illegal(
        fmt::format("loop '{}' of block '{}' holds other statements too", outer->var.name(), step.block));
  }
  std::vector<int64_t> shape = source.output->shape;
  shape.push_back(extent);
  const Tensor tensor(source.output->name + ".rf", shape, source.output->dtype);
  const Partial partial = partial_block(located, loop.var, extent, tensor);
  const Stmt rf_nest = replace(top, located.path.back().get(), make_stmt(partial.block));
  const Stmt final_nest = make_nest(final_block(source, tensor, loop.var.name(), extent), {}, {});
  const Stmt both = make_seq({rf_nest, final_nest});
  const auto allocated = [&](const Stmt& body) {
    return make_stmt(Alloc{tensor, Scope::workspace, Layout::row_major(shape.size()), body});
  };
  const bool below_loop = std::ranges::any_of(located.path.begin(), std::ranges::find(located.path, top),
                                              [](const Stmt& stmt) { return as<For>(stmt) != nullptr; });
  if (below_loop) return with_replaced(program, false, top.get(), allocated(both));
  // Around the whole of main, like every intermediate: either block may move under another's loops.
  Program result = with_replaced(program, false, top.get(), both);
  result.main = allocated(result.main);
  return result;
}

}  // namespace lathe
