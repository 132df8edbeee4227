// Primitives that change loops alone: split, fuse, reorder, annotate.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/primitive.h"

namespace lathe {
namespace {

// The axis whose binding uses the loop, for the conjunct's tail; spatial axes first.
int axis_driven_by(const Block& block, const Var& var) {
  for (size_t i = 0; i < block.axes.size(); ++i) {
    if (block.axes[i].binding.uses(var)) return static_cast<int>(i);
  }
  return -1;
}

// Every block below gains value < bound, on the axis that the loop drove.
Stmt add_conjunct(const Stmt& body, const Var& loop, const Affine& value, int64_t bound) {
  return rebuild(body, [&](const Stmt& stmt) -> std::optional<Stmt> {
    const Block* block = as<Block>(stmt);
    if (block == nullptr) return std::nullopt;
    Block result = *block;
    result.predicate.push_back({value, bound, axis_driven_by(*block, loop), Tail::guard});
    return make_stmt(std::move(result));
  });
}

Result<int64_t> known_extent(const Located& located, size_t position) {
  const For& loop = located.loop_at(position);
  const int64_t extent = constant_extent(loop);
  if (extent < 0) return illegal(fmt::format("loop '{}' has no constant extent", loop.var.name()));
  return extent;
}

// The whole chain from the outermost to the innermost of the given positions consists of loops alone.
Status check_chain(const Located& located, size_t first, size_t last) {
  for (size_t i = first; i <= last; ++i) {
    if (as<For>(located.path[i]) != nullptr) continue;
    return illegal(fmt::format("between loops '{}' and '{}' of block '{}' lie other statements",
                               located.loop_at(first).var.name(), located.loop_at(last).var.name(),
                               located.block->name));
  }
  return {};
}

}  // namespace

Result<Program> apply(const Program& program, const SplitStep& step) {
  LATHE_TRY(const Located located, locate(program, step.block));
  LATHE_TRY(const size_t position, located.loop(step.loop));
  LATHE_TRY(const int64_t extent, known_extent(located, position));
  const For& loop = located.loop_at(position);
  if (loop.kind != LoopKind::serial) return illegal(fmt::format("loop '{}' is annotated already", step.loop));
  if (step.factors.empty()) return illegal(fmt::format("splitting loop '{}' needs a factor", step.loop));
  int64_t product = 1;
  for (int64_t factor : step.factors) {
    if (factor < 1 || factor > (int64_t{1} << 31) || product > (int64_t{1} << 31)) {
      return illegal(fmt::format("a factor of loop '{}' is {}, it must lie in 1 .. 2^31", step.loop, factor));
    }
    product *= factor;
  }
  std::vector<int64_t> extents = {(extent + product - 1) / product};
  extents.insert(extents.end(), step.factors.begin(), step.factors.end());
  std::vector<Var> vars;
  for (size_t i = 0; i < extents.size(); ++i) vars.emplace_back(fmt::format("{}.{}", step.loop, i));
  Affine value(0);
  for (size_t i = 0; i < extents.size(); ++i) value = value * extents[i] + Affine(vars[i]);
  Stmt body = loop.body;
  const bool imperfect = extents[0] * product > extent;
  if (imperfect) body = add_conjunct(body, loop.var, value, extent);
  body = substitute(body, {{loop.var, value}});
  for (size_t i = extents.size(); i-- > 0;) {
    body = make_stmt(For{vars[i], {Affine(extents[i])}, LoopKind::serial, body});
  }
  return with_replaced(program, located.in_prepare, located.path[position].get(), body);
}

std::string describe(const SplitStep& step) {
  return fmt::format("cuts loop {} into tiles of {}", step.loop, fmt::join(step.factors, " x "));
}

Result<Program> apply(const Program& program, const FuseStep& step) {
  LATHE_TRY(const Located located, locate(program, step.block));
  if (step.loops.size() < 2) return illegal("fusing needs two loops or more");
  std::string name;
  int64_t product = 1;
  std::vector<int64_t> extents;
  LATHE_TRY(const size_t first, located.loop(step.loops[0]));
  for (size_t i = 0; i < step.loops.size(); ++i) {
    LATHE_TRY(const size_t position, located.loop(step.loops[i]));
    if (position != first + i) {
      return illegal(fmt::format("loop '{}' is not directly inside loop '{}'", step.loops[i], step.loops[0]));
    }
    LATHE_TRY(const int64_t extent, known_extent(located, position));
    if (located.loop_at(position).kind != LoopKind::serial) {
      return illegal(fmt::format("loop '{}' is annotated already", step.loops[i]));
    }
    extents.push_back(extent);
    product *= extent;
    name += (i == 0 ? "" : "_") + step.loops[i];
  }
  const Var fused(name);
  Substitution substitution;
  Affine rest(fused);
  for (size_t i = extents.size(); i-- > 1;) {
    substitution.emplace_back(located.loop_at(first + i).var, modulo(rest, extents[i]));
    rest = floor_div(rest, extents[i]);
  }
  substitution.emplace_back(located.loop_at(first).var, rest);
  const Stmt body = substitute(located.loop_at(first + extents.size() - 1).body, substitution);
  const Stmt loop = make_stmt(For{fused, {Affine(product)}, LoopKind::serial, body});
  return with_replaced(program, located.in_prepare, located.path[first].get(), loop);
}

std::string describe(const FuseStep& step) {
  return fmt::format("runs loops {} as one", fmt::join(step.loops, ", "));
}

namespace {

// The loops from the first to the last of `places` (path positions), outermost first, with `wanted` in their
// stead: as positions before the change.
std::vector<size_t> reordered(const std::vector<size_t>& places, const std::vector<size_t>& wanted) {
  std::vector<size_t> order;
  size_t next = 0;
  for (size_t position = places.front(); position <= places.back(); ++position) {
    order.push_back(places[next] == position ? wanted[next++] : position);
  }
  return order;
}

// Where a loop drives spatial and reduce axes at once (fused ones), the first instance of a reduction is
// where all its reduce axes are 0 only as long as the loops that drive these keep their order.
Status check_reductions_begin(const Located& located, const std::vector<size_t>& order) {
  for (const Block* block : blocks_of(located.path[std::ranges::min(order)])) {
    std::vector<size_t> reducing;
    std::ranges::copy_if(order, std::back_inserter(reducing), [&](size_t place) {
      return drives_reduce_axis(*block, located.loop_at(place).var);
    });
    const bool mixed = std::ranges::any_of(reducing, [&](size_t place) {
      return std::ranges::any_of(block->axes, [&](const BlockAxis& axis) {
        return axis.axis.kind == AxisKind::spatial && axis.binding.uses(located.loop_at(place).var);
      });
    });
    if (!mixed || std::ranges::is_sorted(reducing)) continue;
    return illegal(
        fmt::format("the reduction of block '{}' would not begin at its first element", block->name));
  }
  return {};
}

// Whether a sum subtracts something that the variable is in.
bool falls_with(const Affine& value, const Var& var) {
  return std::ranges::any_of(value.terms(), [&](const Affine::Term& term) {
    return term.coefficient < 0 && Affine(term.atom).uses(var);
  });
}

// A condition that holds from some iteration on, as of a consumer that waits for the last one of a reduction,
// means that iteration by its place in the order of the loops, unless it is the very last one of all of them.
// A remainder (of a fused loop) has its largest value in other iterations too.
Status check_last_stays_last(const Located& located, const std::vector<size_t>& order) {
  const Ranges ranges = ranges_of(located.path);
  for (const Block* block : blocks_of(located.path[std::ranges::min(order)])) {
    for (const Conjunct& conjunct : block->predicate) {
      std::vector<size_t> waiting;
      std::ranges::copy_if(order, std::back_inserter(waiting), [&](size_t place) {
        return falls_with(conjunct.value, located.loop_at(place).var);
      });
      const bool direct = std::ranges::none_of(
          waiting, [&](size_t place) { return conjunct.value.uses_inside_atom(located.loop_at(place).var); });
      const auto reach = bounds(conjunct.value, ranges);
      const bool very_last = direct && reach && reach->lo == conjunct.bound - 1;
      if (conjunct.axis >= 0 || conjunct.is_neutral || very_last || std::ranges::is_sorted(waiting)) continue;
      return illegal(fmt::format("block '{}' would no longer wait for the last iteration of loop '{}'",
                                 block->name, located.loop_at(waiting.back()).var.name()));
    }
  }
  return {};
}

}  // namespace

Result<Program> apply(const Program& program, const ReorderStep& step) {
  LATHE_TRY(const Located located, locate(program, step.block));
  std::vector<size_t> wanted;
  for (const std::string& name : step.loops) {
    LATHE_TRY(const size_t position, located.loop(name));
    if (std::ranges::find(wanted, position) != wanted.end()) {
      return illegal(fmt::format("loop '{}' is named twice", name));
    }
    wanted.push_back(position);
  }
  if (wanted.size() < 2) return program;
  std::vector<size_t> places = wanted;
  std::ranges::sort(places);
  LATHE_TRY_STATUS(check_chain(located, places.front(), places.back()));
  const std::vector<size_t> order = reordered(places, wanted);
  LATHE_TRY_STATUS(check_reductions_begin(located, order));
  LATHE_TRY_STATUS(check_last_stays_last(located, order));
  Stmt body = located.loop_at(places.back()).body;
  for (size_t i = order.size(); i-- > 0;) {
    For loop = located.loop_at(order[i]);
    loop.body = body;
    body = make_stmt(std::move(loop));
  }
  return with_replaced(program, located.in_prepare, located.path[places.front()].get(), body);
}

std::string describe(const ReorderStep& step) {
  return fmt::format("nests its loops in the order {}", fmt::join(step.loops, ", "));
}

namespace {

// Blocks are directly inside each other and have all threads inside of them.
Status check_binding(const Located& located, size_t position, LoopKind kind) {
  const For& loop = located.loop_at(position);
  bool block_inside = false;
  for_each(loop.body, [&](const StmtNode& node) {
    const For* inner = std::get_if<For>(&node.node);
    block_inside |= inner != nullptr && inner->kind == LoopKind::block;
  });
  bool thread_around = false;
  bool other_around = false;
  for (size_t i = 0; i < position; ++i) {
    const For* outer = as<For>(located.path[i]);
    thread_around |= outer != nullptr && outer->kind == LoopKind::thread;
    other_around |= outer != nullptr && outer->kind != LoopKind::block;
  }
  if (kind == LoopKind::thread && block_inside)
    return illegal(fmt::format("loop '{}' of threads would lie around a loop of blocks", loop.var.name()));
  if (kind == LoopKind::block && thread_around)
    return illegal(fmt::format("loop '{}' of blocks would lie inside a loop of threads", loop.var.name()));
  if (kind == LoopKind::block && other_around)
    return illegal(
        fmt::format("loop '{}' of blocks would lie inside a loop of another kind", loop.var.name()));
  return {};
}

Status check_annotation(const Located& located, size_t position, LoopKind kind) {
  const For& loop = located.loop_at(position);
  if (kind == LoopKind::serial) return {};
  if (constant_extent(loop) < 0)
    return illegal(fmt::format("loop '{}' has no constant extent", loop.var.name()));
  if (kind == LoopKind::unrolled) return {};
  for (const Block* block : blocks_of(located.path[position])) {
    if (drives_reduce_axis(*block, loop.var)) {
      return illegal(fmt::format("loop '{}' drives a reduce axis of block '{}'; rfactor it first",
                                 loop.var.name(), block->name));
    }
  }
  if (kind == LoopKind::block || kind == LoopKind::thread) return check_binding(located, position, kind);
  bool nested = false;
  for (size_t i = 0; i < position; ++i) {
    const For* outer = as<For>(located.path[i]);
    nested |= outer != nullptr && outer->kind == kind;
  }
  for_each(loop.body, [&](const StmtNode& node) {
    const For* inner = std::get_if<For>(&node.node);
    nested |= inner != nullptr && inner->kind == kind;
  });
  if (nested)
    return illegal(fmt::format("loop '{}' lies around or inside another loop of that kind", loop.var.name()));
  return {};
}

// A buffer allocated outside a loop that runs at once and written inside must be written at disjoint places:
// every block that writes it there has to depend on the loop through a spatial axis.
Status check_disjoint_writes(const Located& located, size_t position) {
  const For& loop = located.loop_at(position);
  for (const Block* block : blocks_of(loop.body)) {
    bool local = false;
    for_each(loop.body, [&](const StmtNode& node) {
      const Alloc* alloc = std::get_if<Alloc>(&node.node);
      local |= alloc != nullptr && alloc->tensor == block->output;
    });
    const bool driven = std::ranges::any_of(block->axes, [&](const BlockAxis& axis) {
      return axis.axis.kind == AxisKind::spatial && axis.binding.uses(loop.var);
    });
    if (!local && !driven && constant_extent(loop) > 1) {
      return illegal(fmt::format("iterations of loop '{}' would write the same elements of '{}'",
                                 loop.var.name(), block->output->name));
    }
  }
  return {};
}

}  // namespace

Result<Program> apply(const Program& program, const AnnotateStep& step) {
  LATHE_TRY(const Located located, locate(program, step.block));
  LATHE_TRY(const size_t position, located.loop(step.loop));
  LATHE_TRY_STATUS(check_annotation(located, position, step.kind));
  if (runs_at_once(step.kind)) LATHE_TRY_STATUS(check_disjoint_writes(located, position));
  For loop = located.loop_at(position);
  loop.kind = step.kind;
  return with_replaced(program, located.in_prepare, located.path[position].get(), make_stmt(std::move(loop)));
}

std::string describe(const AnnotateStep& step) {
  switch (step.kind) {
    case LoopKind::serial: return fmt::format("runs loop {} step by step", step.loop);
    case LoopKind::unrolled: return fmt::format("writes out loop {}", step.loop);
    case LoopKind::vectorized: return fmt::format("runs loop {} as vectors", step.loop);
    case LoopKind::parallel: return fmt::format("shares loop {} among the threads", step.loop);
    case LoopKind::block: return fmt::format("gives each iteration of loop {} a block of threads", step.loop);
    case LoopKind::thread: return fmt::format("gives each iteration of loop {} a thread", step.loop);
    case LoopKind::tensorized: break;  // a step of its own
  }
  return "";
}

}  // namespace lathe
