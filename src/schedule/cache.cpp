// Primitives that put a copy between a block and a buffer: cache_read and cache_write.
#include <fmt/format.h>

#include <algorithm>

#include "loop/region.h"
#include "schedule/primitive.h"
#include "schedule/written_nest.h"

namespace lathe {
namespace {

// A copy that is made before its first use in `body` has to find there all that is ever written.
Status check_complete(const Stmt& body, const Tensor& from, const Tensor& copy) {
  if (const Alloc* alloc = as<Alloc>(body)) return check_complete(alloc->body, from, copy);
  const Seq* seq = as<Seq>(body);
  const std::vector<Stmt> statements = seq == nullptr ? std::vector<Stmt>{body} : seq->statements;
  const auto use = std::ranges::find_if(statements, [&](const Stmt& child) { return touches(child, copy); });
  for (auto it = use; it != statements.end(); ++it) {
    for (const Block* block : blocks_of(*it)) {
      if (block->output != from) continue;
      return illegal(fmt::format("block '{}' writes '{}' after it would be copied", block->name, from->name));
    }
  }
  return {};
}

bool is_constant(const Program& program, const Tensor& tensor) {
  return std::ranges::any_of(program.arguments, [&](const Argument& argument) {
    return argument.tensor == tensor && argument.is_constant;
  });
}

// copy[d0, d1, ..] = tensor[d0, d1, ..] inside the tensor's shape, 0 beyond, over `extents`.
Block copy_block(const std::string& name, const Tensor& from, const Tensor& to,
                 const std::vector<int64_t>& extents) {
  Block block;
  block.name = name;
  block.output = to;
  Expr inside;
  for (size_t dim = 0; dim < extents.size(); ++dim) {
    const Axis axis = spatial(fmt::format("d{}", dim), extents[dim]);
    block.axes.push_back({axis, Affine(axis.var), Tail::guard});
    block.output_index.emplace_back(axis.var);
    if (extents[dim] <= from->shape[dim]) continue;
    const Expr condition = Expr(axis.var) < Expr(from->shape[dim]);
    inside = inside.defined() ? inside && condition : condition;
  }
  const Expr value = cast({to->dtype, 1}, load(from, block.output_index));
  block.value = inside.defined() ? select(inside, value, literal({to->dtype, 1}, 0)) : value;
  return block;
}

// An element, or a choice between elements and literals, in the wider type of the copy that it is read from;
// undefined where it is more than that.
Expr read_wider(const Expr& e, const Tensor& from, const Tensor& to) {
  const Load* read = e.as<Load>();
  if (read != nullptr && read->tensor == from) return load(to, read->index);
  if (const Literal* value = e.as<Literal>())
    return literal({to->dtype, 1},
                   is_float(e.type().dtype) ? value->value : static_cast<double>(value->integer));
  const Select* choice = e.as<Select>();
  if (choice == nullptr) return {};
  const Expr if_true = read_wider(choice->if_true, from, to);
  const Expr if_false = read_wider(choice->if_false, from, to);
  return if_true.defined() && if_false.defined() ? select(choice->condition, if_true, if_false) : Expr();
}

// The block with its reads of the one from the other, whose numbers in the types that they are cast to are
// the same.
Result<Block> read_copy(const Block& block, const Tensor& from, const Tensor& to) {
  if (from->dtype == to->dtype) return redirect_loads(block, from, to);
  Block result = block;
  const auto widen = [&](const Expr& e) -> Expr {
    const Cast* node = e.as<Cast>();
    if (node == nullptr) return {};
    const std::vector<const Load*> loads = loads_of(node->operand);
    if (std::ranges::none_of(loads, [&](const Load* load) { return load->tensor == from; })) return {};
    const Expr wider = read_wider(node->operand, from, to);
    return wider.defined() ? cast(e.type(), wider) : Expr();
  };
  result.value = rebuild(block.value, {widen, nullptr});
  if (!reads(result, from)) return result;
  return illegal(
      fmt::format("block '{}' does more with elements of '{}' than to cast them, so a copy has their "
                  "type",
                  block.name, from->name));
}

Result<Program> redirect_block(const Program& program, const Located& located, const Tensor& from,
                               const Tensor& to) {
  LATHE_TRY(Block block, read_copy(*located.block, from, to));
  return with_replaced(program, located.in_prepare, located.path.back().get(), make_stmt(std::move(block)));
}

Result<Program> cache_read_prepared(const Program& program, const Located& located, const CacheReadStep& step,
                                    const Tensor& from, const Tensor& copy, const Layout& layout) {
  if (!is_constant(program, from)) {
    return illegal(fmt::format("'{}' is no constant, so it cannot be copied beforehand", step.tensor));
  }
  const Block block = copy_block(step.copy, from, copy, capacity(layout, from->shape));
  LATHE_TRY(Program result, redirect_block(program, located, from, copy));
  const Stmt nest = make_nest(block, {}, {});
  result.prepare =
      located.in_prepare ? insert_before_use(result.prepare, copy, nest) : make_seq({result.prepare, nest});
  result.prepared.push_back({copy, layout});
  return result;
}

Result<Program> cache_read_at_root(const Program& program, const Located& located, const CacheReadStep& step,
                                   const Tensor& from, const Tensor& copy, const Layout& layout) {
  const Block block = copy_block(step.copy, from, copy, capacity(layout, from->shape));
  LATHE_TRY(Program result, redirect_block(program, located, from, copy));
  LATHE_TRY_STATUS(check_complete(result.main, from, copy));
  const Stmt nest = make_nest(block, {}, {});
  result.main = make_stmt(Alloc{copy, Scope::workspace, layout, insert_before_use(result.main, copy, nest)});
  return result;
}

Result<Program> cache_read_at_loop(const Program& program, const Located& located, const CacheReadStep& step,
                                   const Tensor& from, const Tensor& copy, const Layout& layout) {
  LATHE_TRY(const size_t position, located.loop(step.at));
  const Ranges fixed = ranges_of(Path(located.path.begin(), located.path.begin() + position + 1));
  LATHE_TRY(const Program redirected, redirect_block(program, located, from, copy));
  LATHE_TRY(const Located again, locate(redirected, step.block));
  For loop = again.loop_at(position);
  const auto box = region(loop.body, copy, Access::read, fixed);
  if (!box) return illegal(fmt::format("block '{}' does not read '{}'", step.block, step.tensor));
  LATHE_TRY_STATUS(check_complete(loop.body, from, copy));
  std::vector<int64_t> extents;
  std::vector<NestSide> sides;
  for (size_t dim = 0; dim < box->size(); ++dim) {
    const auto interval = bounds((*box)[dim].base, fixed);
    const int64_t reach = interval ? interval->hi + (*box)[dim].extent : from->shape[dim];
    extents.push_back(std::max(from->shape[dim], reach));
    sides.push_back({dim, (*box)[dim].base, (*box)[dim].extent});
  }
  // Imperfect tiles read (under a condition) beyond the tensor: the copy has zeros there.
  const Tensor grown(step.copy, extents, copy->dtype);
  const Block reader = redirect_loads(*again.block, copy, grown);
  const Stmt body = replace(loop.body, again.path.back().get(), make_stmt(reader));
  const Stmt nest = make_nest(copy_block(step.copy, from, grown, extents), sides, fixed);
  loop.body = make_stmt(Alloc{grown, step.scope, layout, insert_before_use(body, grown, nest)});
  return with_replaced(redirected, located.in_prepare, again.path[position].get(),
                       make_stmt(std::move(loop)));
}

}  // namespace

Result<Program> apply(const Program& program, const CacheReadStep& step) {
  LATHE_TRY(const Located located, locate(program, step.block));
  LATHE_TRY_STATUS(check_new_name(program, step.copy));
  Tensor from;
  for (const Load* load : loads_of(located.block->value)) {
    if (load->tensor->name == step.tensor) from = load->tensor;
  }
  if (!from.defined()) return illegal(fmt::format("block '{}' does not read '{}'", step.block, step.tensor));
  const Layout layout = step.layout.dims.empty() ? Layout::row_major(from->shape.size()) : step.layout;
  if (Status status = verify(layout, from->shape); !status) return illegal(status.error().message);
  const Tensor copy(step.copy, from->shape, step.dtype.value_or(from->dtype));
  if (!holds_numbers_of(copy->dtype, from->dtype)) {
    return illegal(fmt::format("{} does not hold all numbers of '{}', which is {}", to_string(copy->dtype),
                               step.tensor, to_string(from->dtype)));
  }
  if (step.at == "prepare") return cache_read_prepared(program, located, step, from, copy, layout);
  if (step.at == "root") return cache_read_at_root(program, located, step, from, copy, layout);
  return cache_read_at_loop(program, located, step, from, copy, layout);
}

std::string describe(const CacheReadStep& step) {
  const std::string what = step.dtype ? fmt::format("a copy as {}", to_string(*step.dtype)) : "a copy";
  if (step.at == "prepare") return fmt::format("reads {} from {} that is packed at load", step.tensor, what);
  return fmt::format("reads {} from {} in {}, made {}", step.tensor, what, place_in_words(step.scope),
                     step.at == "root" ? "beforehand" : fmt::format("in each iteration of {}", step.at));
}

namespace {

// A copy of a cached output: the block's spatial axes over what an iteration of the loop writes, and what it
// reduces over in the loops around, since each of their iterations carries another value.
struct OutputCopy {
  Block block;
  std::vector<std::pair<Var, int64_t>> loops;
  std::vector<Var> outer_reduce_axes;
};

// The block's reduce axes as far as the loops from the one at `position` outwards drive them: whole axes, and
// the loops themselves as axes where others further in have a part in them.
std::vector<BlockAxis> outer_reduce_axes(const Located& located, size_t position) {
  std::vector<BlockAxis> axes;
  const auto is_new = [&](const Affine& binding) {
    return std::ranges::find(axes, binding, &BlockAxis::binding) == axes.end();
  };
  const std::vector<size_t> loops = reduce_loops(located);
  for (const BlockAxis& source : located.block->axes) {
    if (source.axis.kind != AxisKind::reduce) continue;
    const bool whole = std::ranges::none_of(
        loops, [&](size_t i) { return i > position && source.binding.uses(located.loop_at(i).var); });
    if (whole && !source.binding.is_constant()) {
      axes.push_back({reduce(source.axis.var.name(), source.axis.extent), source.binding, Tail::guard});
    }
    for (size_t i : loops) {
      const For& loop = located.loop_at(i);
      if (whole || i > position || !source.binding.uses(loop.var) || !is_new(Affine(loop.var))) continue;
      axes.push_back({reduce(loop.var.name(), constant_extent(loop)), Affine(loop.var), Tail::guard});
    }
  }
  return axes;
}

OutputCopy output_copy(const Located& located, size_t position) {
  OutputCopy copy;
  const Block& source = *located.block;
  std::vector<std::string> names;
  for (const BlockAxis& axis : source.axes) names.push_back(axis.axis.var.name());
  WrittenNest nest = written_nest(located, position, names);
  copy.loops = std::move(nest.loops);
  Ranges ranges = ranges_of(Path(located.path.begin(), located.path.begin() + position + 1));
  for (const auto& [loop, extent] : copy.loops) ranges.set_extent(loop, extent);
  copy.block.predicate = std::move(nest.conditions);
  for (size_t dim = 0; dim < nest.index.size(); ++dim) {
    const Axis axis = spatial(names[dim], source.axes[dim].axis.extent);
    copy.block.axes.push_back({axis, nest.index[dim], Tail::guard});
    copy.block.output_index.emplace_back(axis.var);
    guard_domain(copy.block, dim, ranges);
  }
  for (BlockAxis& axis : outer_reduce_axes(located, position)) {
    copy.outer_reduce_axes.push_back(axis.axis.var);
    copy.block.axes.push_back(std::move(axis));
    guard_domain(copy.block, copy.block.axes.size() - 1, ranges);
  }
  return copy;
}

// The shape of a buffer that holds all that a block writes, padding beyond its output's shape included.
std::vector<int64_t> written_shape(const Block& block) {
  std::vector<int64_t> shape = block.output->shape;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    shape[dim] = std::max(shape[dim], block.axes[dim].axis.extent);
  }
  return shape;
}

}  // namespace

Result<Program> apply(const Program& program, const CacheWriteStep& step) {
  LATHE_TRY(const Located located, locate(program, step.block));
  LATHE_TRY(const size_t position, located.loop(step.loop));
  LATHE_TRY_STATUS(check_new_name(program, step.copy));
  LATHE_TRY_STATUS(check_unmixed(located, position));
  LATHE_TRY_STATUS(check_point_wise_output(*located.block));
  const Tensor output = located.block->output;
  For loop = located.loop_at(position);
  for (const Block* other : blocks_of(loop.body)) {
    if (other->name != step.block && (other->output == output || reads(*other, output))) {
      return illegal(
          fmt::format("block '{}' below loop '{}' uses '{}' too", other->name, step.loop, output->name));
    }
  }
  if (!outer_reduce_axes(located, position).empty()) {
    LATHE_TRY_STATUS(check_unmixed(located, located.path.size() - 1));
  }
  const Tensor local(step.copy, written_shape(*located.block), output->dtype);
  OutputCopy out = output_copy(located, position);
  out.block.name = step.copy + ".out";
  out.block.output = output;
  out.block.value = load(local, out.block.output_index);
  Block writer = *located.block;
  writer.output = local;
  Stmt in_nest;
  const bool goes_on = writer.reduction != Reduction::none && !writer.initialises;
  if (goes_on || (!out.outer_reduce_axes.empty() && writer.initialises)) {
    writer.initialises = false;
    OutputCopy in = output_copy(located, position);
    in.block.name = step.copy + ".in";
    in.block.output = local;
    Expr first;
    for (const Var& axis : in.outer_reduce_axes) {
      const Expr zero = Expr(axis) == Expr(int64_t{0});
      first = first.defined() ? first && zero : zero;
    }
    const Expr before = load(output, in.block.output_index);
    const Expr identity = literal({output->dtype, 1}, identity_of(writer.reduction));
    in.block.value = goes_on ? before : select(first, identity, before);
    in_nest = in_loops(std::move(in.block), in.loops);
  }
  const Stmt body = replace(loop.body, located.path.back().get(), make_stmt(std::move(writer)));
  const Layout layout = Layout::row_major(output->shape.size());
  const Stmt around =
      append(in_nest ? prepend(body, in_nest) : body, in_loops(std::move(out.block), out.loops));
  loop.body = make_stmt(Alloc{local, step.scope, layout, around});
  return with_replaced(program, located.in_prepare, located.path[position].get(), make_stmt(std::move(loop)));
}

std::string describe(const CacheWriteStep& step) {
  return fmt::format("collects its results in {} during each iteration of {}", place_in_words(step.scope),
                     step.loop);
}

}  // namespace lathe
