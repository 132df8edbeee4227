// Primitives on how buffers and axes are treated: layout, tail, prefetch, stream.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "schedule/primitive.h"

namespace lathe {
namespace {

// Sets the layout of the Alloc of that name, wherever it is.
void set_alloc_layout(Program& program, const LayoutStep& step) {
  program.main = rebuild(program.main, [&](const Stmt& stmt) -> std::optional<Stmt> {
    const Alloc* alloc = as<Alloc>(stmt);
    if (alloc == nullptr || alloc->tensor->name != step.tensor) return std::nullopt;
    Alloc result = *alloc;
    result.layout = step.layout;
    return make_stmt(std::move(result));
  });
}

const TensorNode* tensor_named(const Program& program, const std::string& name) {
  for (const Argument& argument : program.arguments) {
    if (argument.tensor->name == name) return argument.tensor.get();
  }
  for (const Prepared& prepared : program.prepared) {
    if (prepared.tensor->name == name) return prepared.tensor.get();
  }
  const TensorNode* found = nullptr;
  for_each(program.main, [&](const StmtNode& node) {
    const Alloc* alloc = std::get_if<Alloc>(&node.node);
    if (alloc != nullptr && alloc->tensor->name == name) found = alloc->tensor.get();
  });
  return found;
}

// Padding in blocks is written like all else (cache_read): no block may write beyond the new layout's room.
Status check_room(const Program& program, const TensorNode* tensor, const Layout& layout) {
  const std::vector<int64_t> room = capacity(layout, tensor->shape);
  for (const Stmt& tree : {program.prepare, program.main}) {
    for (const Block* block : blocks_of(tree)) {
      if (block->output.get() != tensor) continue;
      Ranges domains;
      for (const BlockAxis& axis : block->axes) domains.set_extent(axis.axis.var, axis.axis.extent);
      for (size_t dim = 0; dim < room.size(); ++dim) {
        const auto reach = bounds(block->output_index[dim], domains);
        if (!reach || reach->hi < room[dim]) continue;
        return illegal(
            fmt::format("block '{}' writes index {} of dimension {} of '{}', the layout has room for {}",
                        block->name, reach->hi, dim, tensor->name, room[dim]));
      }
    }
  }
  return {};
}

}  // namespace

Result<Program> apply(const Program& program, const LayoutStep& step) {
  const TensorNode* tensor = tensor_named(program, step.tensor);
  if (tensor == nullptr) return illegal(fmt::format("there is no buffer '{}'", step.tensor));
  if (Status status = verify(step.layout, tensor->shape); !status) return illegal(status.error().message);
  LATHE_TRY_STATUS(check_room(program, tensor, step.layout));
  Program result = program;
  for (Argument& argument : result.arguments) {
    if (argument.tensor.get() != tensor) continue;
    if (!argument.layout_is_free)
      return illegal(fmt::format("the layout of argument '{}' is fixed", step.tensor));
    argument.layout = step.layout;
    return result;
  }
  for (Prepared& prepared : result.prepared) {
    if (prepared.tensor.get() != tensor) continue;
    prepared.layout = step.layout;
    return result;
  }
  set_alloc_layout(result, step);
  return result;
}

std::string describe(const LayoutStep& step) {
  return fmt::format("lies in memory as {}", to_string(step.layout));
}

Result<Program> apply(const Program& program, const StreamStep& step) {
  Program result = program;
  for (Argument& argument : result.arguments) {
    if (!argument.is_output || argument.tensor->name != step.tensor) continue;
    argument.streams = true;
    return result;
  }
  return illegal(fmt::format("there is no output '{}'", step.tensor));
}

std::string describe(const StreamStep&) { return "is written to memory past the caches"; }

Result<Program> apply(const Program& program, const TailStep& step) {
  LATHE_TRY(const Located located, locate(program, step.block));
  Block block = *located.block;
  const auto axis = std::ranges::find_if(
      block.axes, [&](const BlockAxis& candidate) { return candidate.axis.var.name() == step.axis; });
  if (axis == block.axes.end()) {
    return illegal(fmt::format("block '{}' has no axis '{}'", step.block, step.axis));
  }
  axis->tail = step.tail;
  return with_replaced(program, located.in_prepare, located.path.back().get(), make_stmt(std::move(block)));
}

std::string describe(const TailStep& step) {
  switch (step.tail) {
    case Tail::guard: return fmt::format("tests the border of {} at each point", step.axis);
    case Tail::bound: return fmt::format("ends its loops at the end of {}", step.axis);
    case Tail::overlap: return fmt::format("moves the last tile of {} back over the one before", step.axis);
    case Tail::mask: return fmt::format("masks the vectors that reach over the end of {}", step.axis);
    case Tail::pad: return fmt::format("computes on to the end of the last tile of {}", step.axis);
    case Tail::peel: return fmt::format("has loops of their own for the last tile of {}", step.axis);
  }
  return "";
}

namespace {

constexpr int64_t kLineBytes = 64;

bool drives(const Located& located, const Load& load, const Var& loop) {
  return std::ranges::any_of(located.block->axes, [&](const BlockAxis& axis) {
    return axis.binding.uses(loop) &&
           std::ranges::any_of(load.index, [&](const Affine& index) { return index.uses(axis.axis.var); });
  });
}

// How the iterations of loop `at` share out the cache lines that its loops will read in one iteration of
// `loop`: the loops inside `at` that the tensor's index follows reach `elements` for each of its `steps`; the
// loops around it, up to `loop`, that the index does not follow reread them in `turns` = 0 .. `turns` - 1.
struct Share {
  std::vector<std::pair<Var, int64_t>> inner;  // innermost first, with extents; `at` is the last
  int64_t elements = 1;
  int64_t steps = 1;
  Affine turn;
  int64_t turns = 1;
};

Result<Share> share_of(const Located& located, const Load& load, size_t loop, size_t at) {
  Share share;
  for (size_t i = loop + 1; i < located.path.size(); ++i) {
    const For* inner = as<For>(located.path[i]);
    if (inner == nullptr) continue;
    const bool follows = drives(located, load, inner->var);
    if (i < at && follows) continue;
    if (i > at && !follows) continue;
    const int64_t extent = constant_extent(*inner);
    if (extent < 1) return illegal(fmt::format("loop '{}' has no constant extent", inner->var.name()));
    if (!follows) {
      share.turn = share.turn * extent + Affine(inner->var);
      share.turns *= extent;
      continue;
    }
    share.inner.insert(share.inner.begin(), {inner->var, extent});
    (i == at ? share.steps : share.elements) *= extent;
  }
  return share;
}

// The elements that one iteration of `at` fetches, counted over share.inner: the lines one after the other,
// as slowly as the turns allow in powers of two, so that the memory is asked evenly.
std::vector<Affine> fetched_elements(const Share& share, const Var& at, int64_t per_line) {
  const int64_t lines = (share.elements + per_line - 1) / per_line;
  const int64_t each = (lines + share.turns - 1) / share.turns;
  const auto wait =
      static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(share.turns / lines, 1))));
  const Affine slot = share.steps > 1 ? share.turn * share.steps + Affine(at) : share.turn;
  std::vector<Affine> elements;
  for (int64_t k = 0; k < each; ++k) {
    const Affine line = modulo(floor_div(slot * each + k, wait), share.steps * lines);
    elements.push_back(floor_div(line, lines) * share.elements + modulo(line, lines) * per_line);
  }
  return elements;
}

}  // namespace

Result<Program> apply(const Program& program, const PrefetchStep& step) {
  LATHE_TRY(const Located located, locate(program, step.block));
  LATHE_TRY(const size_t position, located.loop(step.loop));
  LATHE_TRY(const size_t at, located.loop(step.at.empty() ? step.loop : step.at));
  if (at < position) {
    return illegal(fmt::format("loop '{}' does not lie in loop '{}'", step.at, step.loop));
  }
  const auto loads = loads_of(located.block->value);
  const auto load =
      std::ranges::find_if(loads, [&](const Load* l) { return l->tensor->name == step.tensor; });
  if (load == loads.end()) {
    return illegal(fmt::format("block '{}' does not read '{}'", step.block, step.tensor));
  }
  const Alloc* alloc = find_alloc(program, (*load)->tensor);
  if (alloc != nullptr && alloc->scope == Scope::registers)
    return illegal(fmt::format("'{}' lies in registers, where there is nothing to fetch", step.tensor));
  Substitution bindings;
  for (const BlockAxis& axis : located.block->axes) bindings.emplace_back(axis.axis.var, axis.binding);
  LATHE_TRY(const Share share, share_of(located, **load, position, at));
  const For& loop = located.loop_at(position);
  For place = located.loop_at(at);
  const int64_t per_line = kLineBytes / bytes_of((*load)->tensor->dtype);
  const std::vector<Affine> elements =
      at == position ? std::vector<Affine>{Affine(0)} : fetched_elements(share, place.var, per_line);
  for (Affine element : elements) {
    Substitution ahead;
    for (const auto& [inner, extent] : share.inner) {
      ahead.emplace_back(inner, modulo(element, extent));
      element = floor_div(element, extent);
    }
    ahead.emplace_back(loop.var, Affine(loop.var) + step.distance);
    Prefetch fetch{(*load)->tensor, {}};
    for (const Affine& index : (*load)->index)
      fetch.index.push_back(substitute(substitute(index, bindings), ahead));
    place.body = prepend(place.body, make_stmt(std::move(fetch)));
  }
  return with_replaced(program, located.in_prepare, located.path[at].get(), make_stmt(std::move(place)));
}

std::string describe(const PrefetchStep& step) {
  return fmt::format("fetches {} {} iteration{} of {} ahead", step.tensor, step.distance,
                     step.distance == 1 ? "" : "s", step.loop);
}

}  // namespace lathe
