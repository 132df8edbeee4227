// rfactor: part of a reduction becomes a spatial axis, so that its partial results can be computed side by
// side.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/primitive.h"

namespace lathe {
namespace {

// A reduce loop becomes the spatial axis `factored`. So the axes that it drives go, and with them those that
// share a loop with these; each of their other loops is a reduce axis of its own.
struct Factored {
  const For* loop = nullptr;
  int64_t parts = 0;               // iterations that have something to reduce: the first ones
  std::vector<const For*> others;  // the other loops of the axes that go
  std::vector<bool> goes;          // by axis of the block
};

bool drives(const For& loop, const BlockAxis& axis) { return axis.binding.uses(loop.var); }

Factored factor(const Located& located, const For& loop) {
  const Block& block = *located.block;
  Factored factored{&loop, constant_extent(loop), {}, std::vector<bool>(block.axes.size(), false)};
  const auto is_taken = [&](const For& other) {
    return other.var == loop.var || std::ranges::find(factored.others, &other) != factored.others.end();
  };
  for (bool grows = true; grows;) {
    grows = false;
    for (size_t i : reduce_loops(located)) {
      const For& other = located.loop_at(i);
      for (size_t axis = 0; axis < block.axes.size(); ++axis) {
        const bool reduces = block.axes[axis].axis.kind == AxisKind::reduce;
        if (!reduces || !drives(other, block.axes[axis]) || is_taken(other) == factored.goes[axis]) continue;
        if (!is_taken(other)) factored.others.push_back(&other);
        factored.goes[axis] = true;
        grows = true;
      }
    }
  }
  std::ranges::sort(factored.others, {}, [&](const For* other) {
    return std::ranges::find_if(located.path, [&](const Stmt& s) { return as<For>(s) == other; });
  });
  return factored;
}

// The block that computes the partial results. Where a part has fewer elements than others the conditions see
// to it.
Block partial_block(const Block& source, const Factored& factored, const Tensor& tensor) {
  Block block = source;
  block.name = source.name + ".rf";
  block.output = tensor;
  block.axes.clear();
  std::vector<int> place(source.axes.size(), -1);
  const auto keep = [&](AxisKind kind) {
    for (size_t i = 0; i < source.axes.size(); ++i) {
      if (source.axes[i].axis.kind != kind || factored.goes[i]) continue;
      place[i] = static_cast<int>(block.axes.size());
      block.axes.push_back(source.axes[i]);
    }
  };
  keep(AxisKind::spatial);
  const Axis part = spatial(factored.loop->var.name(), factored.parts);
  const auto part_axis = static_cast<int>(block.axes.size());
  block.axes.push_back({part, Affine(factored.loop->var), Tail::guard});
  block.output_index.emplace_back(part.var);
  keep(AxisKind::reduce);
  Substitution loops_to_axes = {{factored.loop->var, Affine(part.var)}};
  for (const For* loop : factored.others) {
    const Axis axis = reduce(loop->var.name(), constant_extent(*loop));
    block.axes.push_back({axis, Affine(loop->var), Tail::guard});
    loops_to_axes.emplace_back(loop->var, Affine(axis.var));
  }
  Substitution gone;
  for (size_t i = 0; i < source.axes.size(); ++i) {
    if (factored.goes[i])
      gone.emplace_back(source.axes[i].axis.var, substitute(source.axes[i].binding, loops_to_axes));
  }
  block.value = substitute(source.value, gone);
  for (Conjunct& conjunct : block.predicate) {
    if (conjunct.axis >= 0) conjunct.axis = place[static_cast<size_t>(conjunct.axis)];
  }
  if (factored.parts < constant_extent(*factored.loop)) {
    block.predicate.push_back({Affine(factored.loop->var), factored.parts, part_axis, Tail::guard});
  }
  return block;
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

// Each partial result needs a first instance to start from, with all other loops of reduce axes at 0: counts
// the iterations of the loop that have one. An Error where their number depends on other loops.
Result<int64_t> count_parts(const Located& located, const Factored& factored) {
  Substitution first;
  for (const size_t place : reduce_loops(located)) {
    const For& loop = located.loop_at(place);
    const bool is_mixed = std::ranges::any_of(located.block->axes, [&](const BlockAxis& axis) {
      return axis.axis.kind == AxisKind::spatial && drives(loop, axis);
    });
    if (&loop != factored.loop && !is_mixed) first.emplace_back(loop.var, Affine(0));
  }
  const Ranges ranges = ranges_of(located.path);
  const Var& var = factored.loop->var;
  int64_t parts = factored.parts;
  for (const Conjunct& conjunct : located.block->predicate) {
    if (!conjunct.value.uses(var)) continue;
    const Affine value = substitute(conjunct.value, first);
    const auto interval = bounds(value, ranges);
    if (interval && interval->hi < conjunct.bound) continue;
    const int64_t step = value.coefficient(var);
    if (step <= 0 || !(value - Affine(var) * step).is_constant()) {
      return illegal(fmt::format("an iteration of loop '{}' may have nothing to reduce", var.name()));
    }
    parts = std::min(parts, (conjunct.bound - 1 - value.constant()) / step + 1);
  }
  return parts;
}

// The partial results take loops out of the reduction, which must then drive nothing else.
Status check_unmixed_parts(const Block& block, const Factored& factored) {
  std::vector<const For*> loops = factored.others;
  loops.push_back(factored.loop);
  for (const For* loop : loops) {
    for (const BlockAxis& axis : block.axes) {
      if (axis.axis.kind != AxisKind::spatial || !drives(*loop, axis)) continue;
      return illegal(
          fmt::format("loop '{}' drives a spatial axis of block '{}' too", loop->var.name(), block.name));
    }
  }
  return {};
}

// The block moves out of nothing but its own loops.
Status check_own_loops(const Located& located, const Stmt& top) {
  for (const Stmt& stmt : located.path) {
    if (stmt == top) break;
    const For* outer = as<For>(stmt);
    if (outer == nullptr) continue;
    const auto driven = [&](const BlockAxis& axis) { return drives(*outer, axis); };
    if (std::ranges::none_of(located.block->axes, driven)) continue;
    return illegal(fmt::format("loop '{}' of block '{}' holds other statements too", outer->var.name(),
                               located.block->name));
  }
  return {};
}

}  // namespace

Result<Program> apply(const Program& program, const RfactorStep& step) {
  LATHE_TRY(const Located located, locate(program, step.block));
  LATHE_TRY(const size_t position, located.loop(step.loop));
  const Block& source = *located.block;
  const For& loop = located.loop_at(position);
  if (source.reduction == Reduction::none || !source.initialises) {
    return illegal(fmt::format("block '{}' does not reduce from its beginning", step.block));
  }
  if (!drives_reduce_axis(source, loop.var)) {
    return illegal(fmt::format("loop '{}' drives no reduce axis of block '{}'", step.loop, step.block));
  }
  if (located.in_prepare) return illegal("rfactor works on main only");
  LATHE_TRY_STATUS(check_new_name(program, step.block + ".rf"));
  Factored factored = factor(located, loop);
  LATHE_TRY_STATUS(check_unmixed_parts(source, factored));
  LATHE_TRY(factored.parts, count_parts(located, factored));
  const StmtNode* nest = own_nest(located);
  const Stmt& top = *std::ranges::find_if(located.path, [&](const Stmt& stmt) { return stmt.get() == nest; });
  LATHE_TRY_STATUS(check_own_loops(located, top));
  std::vector<int64_t> shape = source.output->shape;
  shape.push_back(factored.parts);
  const Tensor tensor(source.output->name + ".rf", shape, source.output->dtype);
  const Stmt rf_nest =
      replace(top, located.path.back().get(), make_stmt(partial_block(source, factored, tensor)));
  const Stmt final_nest = make_nest(final_block(source, tensor, loop.var.name(), factored.parts), {}, {});
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

std::string describe(const RfactorStep& step) {
  return fmt::format("sums each step of loop {} on its own, then the sums", step.loop);
}

}  // namespace lathe
