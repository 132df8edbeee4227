#include "schedule/primitive.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace lathe {

Result<Located> locate(const Program& program, std::string_view block) {
  Located located;
  located.path = path_to_block(program.main, block);
  if (located.path.empty()) {
    located.path = path_to_block(program.prepare, block);
    located.in_prepare = true;
  }
  if (located.path.empty()) return illegal(fmt::format("there is no block '{}'", block));
  located.block = as<Block>(located.path.back());
  return located;
}

Result<size_t> Located::loop(std::string_view name) const {
  for (size_t i = path.size(); i-- > 0;) {
    const For* candidate = as<For>(path[i]);
    if (candidate != nullptr && candidate->var.name() == name) return i;
  }
  std::string names;
  for (const Stmt& stmt : path) {
    if (const For* candidate = as<For>(stmt)) names += (names.empty() ? "" : ", ") + candidate->var.name();
  }
  return illegal(fmt::format("block '{}' has no loop '{}'; its loops are {}", block->name, name,
                             names.empty() ? "none" : names));
}

Program with_replaced(const Program& program, bool in_prepare, const StmtNode* target,
                      const Stmt& replacement) {
  Program result = program;
  Stmt& tree = in_prepare ? result.prepare : result.main;
  tree = replace(tree, target, replacement);
  return result;
}

bool drives_reduce_axis(const Block& block, const Var& var) {
  return std::ranges::any_of(block.axes, [&](const BlockAxis& axis) {
    return axis.axis.kind == AxisKind::reduce && axis.binding.uses(var);
  });
}

std::string place_in_words(Scope scope) {
  switch (scope) {
    case Scope::registers: return "registers";
    case Scope::thread: return "a buffer of each thread";
    case Scope::workspace: return "the workspace";
    case Scope::shared: return "memory that a block of threads shares";
  }
  return "";
}

std::vector<size_t> reduce_loops(const Located& located) {
  std::vector<size_t> positions;
  for (size_t i = 0; i < located.path.size(); ++i) {
    const For* loop = as<For>(located.path[i]);
    if (loop != nullptr && drives_reduce_axis(*located.block, loop->var)) positions.push_back(i);
  }
  return positions;
}

Status check_unmixed(const Located& located, size_t position) {
  for (size_t i : reduce_loops(located)) {
    if (i > position) break;
    const Var& var = located.loop_at(i).var;
    for (const BlockAxis& axis : located.block->axes) {
      if (axis.axis.kind != AxisKind::spatial || !axis.binding.uses(var)) continue;
      return illegal(fmt::format("loop '{}' drives a spatial and a reduce axis of block '{}'", var.name(),
                                 located.block->name));
    }
  }
  return {};
}

Status check_movable(const Located& located) {
  const Block& block = *located.block;
  if (block.reduction != Reduction::none && !block.initialises) {
    return illegal(fmt::format("block '{}' adds to what another block loads", block.name));
  }
  const auto top = std::ranges::find_if(
      located.path, [nest = own_nest(located)](const Stmt& stmt) { return stmt.get() == nest; });
  const std::vector<size_t> reducing = reduce_loops(located);
  if (!reducing.empty() && located.path.begin() + static_cast<std::ptrdiff_t>(reducing.front()) < top) {
    return illegal(fmt::format("loop '{}' of block '{}' holds other statements too",
                               located.loop_at(reducing.front()).var.name(), block.name));
  }
  return {};
}

const StmtNode* own_nest(const Located& located) {
  size_t top = located.path.size() - 1;
  while (top > 0 && as<For>(located.path[top - 1]) != nullptr) --top;
  return located.path[top].get();
}

Status check_intermediate(const Program& program, const Block& block) {
  if (find_alloc(program, block.output) == nullptr) {
    return illegal(
        fmt::format("block '{}' writes '{}', which is no intermediate", block.name, block.output->name));
  }
  return check_sole_writer(program, block);
}

Status check_new_name(const Program& program, const std::string& name) {
  for (const Stmt& tree : {program.main, program.prepare}) {
    for (const Block* block : blocks_of(tree)) {
      if (block->name == name || block->output->name == name) {
        return illegal(fmt::format("there is a '{}' already", name));
      }
    }
  }
  return {};
}

Status check_point_wise_output(const Block& block) {
  for (size_t i = 0; i < block.output_index.size(); ++i) {
    const auto var = block.output_index[i].as_var();
    if (var && i < block.axes.size() && *var == block.axes[i].axis.var) continue;
    return illegal(fmt::format("block '{}' does not write its output point by point", block.name));
  }
  return {};
}

void guard_domain(Block& block, size_t position, const Ranges& ranges) {
  BlockAxis& axis = block.axes[position];
  axis.binding = simplify(axis.binding, ranges);
  const auto interval = bounds(axis.binding, ranges);
  const int index = static_cast<int>(position);
  if (!interval || interval->hi >= axis.axis.extent) {
    block.predicate.push_back({axis.binding, axis.axis.extent, index, Tail::guard});
  }
  if (!interval || interval->lo < 0) block.predicate.push_back({axis.binding * -1, 1, index, Tail::guard});
}

Status check_sole_writer(const Program& program, const Block& block) {
  for (const Block* other : blocks_of(program.main)) {
    if (other->output != block.output || other->name == block.name) continue;
    return illegal(fmt::format("block '{}' writes '{}' as block '{}' does", other->name, block.output->name,
                               block.name));
  }
  return {};
}

Stmt make_nest(Block block, const std::vector<NestSide>& sides, const Ranges& fixed) {
  std::vector<Conjunct> kept;
  for (const Conjunct& conjunct : block.predicate) {
    if (conjunct.axis < 0 && !conjunct.is_neutral) kept.push_back(conjunct);
  }
  block.predicate.clear();
  Substitution moved;
  std::vector<std::pair<Var, int64_t>> loops;
  for (size_t i = 0; i < block.axes.size(); ++i) {
    BlockAxis& axis = block.axes[i];
    const Var loop(axis.axis.var.name());
    NestSide side{i, Affine(0), axis.axis.extent};
    for (const NestSide& candidate : sides) {
      if (candidate.axis == i) side = candidate;
    }
    loops.emplace_back(loop, side.extent);
    const Affine before = axis.binding;
    axis.binding = side.base + Affine(loop);
    if (const auto var = before.as_var()) moved.emplace_back(*var, axis.binding);
    Ranges ranges = fixed;
    ranges.set_extent(loop, side.extent);
    guard_domain(block, i, ranges);
  }
  for (Conjunct& conjunct : kept) {
    conjunct.value = substitute(conjunct.value, moved);
    block.predicate.push_back(std::move(conjunct));
  }
  Stmt nest = make_stmt(std::move(block));
  for (size_t i = loops.size(); i-- > 0;) {
    nest = make_stmt(For{loops[i].first, {Affine(loops[i].second)}, LoopKind::serial, nest});
  }
  return nest;
}

Stmt prepend(const Stmt& body, const Stmt& stmt) {
  if (const Alloc* alloc = as<Alloc>(body)) {
    Alloc result = *alloc;
    result.body = prepend(alloc->body, stmt);
    return make_stmt(std::move(result));
  }
  return make_seq({stmt, body});
}

Stmt append(const Stmt& body, const Stmt& stmt) {
  if (const Alloc* alloc = as<Alloc>(body)) {
    Alloc result = *alloc;
    result.body = append(alloc->body, stmt);
    return make_stmt(std::move(result));
  }
  return make_seq({body, stmt});
}

Stmt insert_before_use(const Stmt& body, const Tensor& tensor, const Stmt& stmt) {
  if (const Alloc* alloc = as<Alloc>(body)) {
    Alloc result = *alloc;
    result.body = insert_before_use(alloc->body, tensor, stmt);
    return make_stmt(std::move(result));
  }
  const Seq* seq = as<Seq>(body);
  if (seq == nullptr) return make_seq({stmt, body});
  std::vector<Stmt> statements = seq->statements;
  const auto use =
      std::ranges::find_if(statements, [&](const Stmt& child) { return touches(child, tensor); });
  statements.insert(use == statements.end() ? statements.begin() : use, stmt);
  return make_seq(std::move(statements));
}

bool reads(const Block& block, const Tensor& tensor) {
  return std::ranges::any_of(loads_of(block.value), [&](const Load* load) { return load->tensor == tensor; });
}

bool touches(const Stmt& stmt, const Tensor& tensor) {
  return std::ranges::any_of(
      blocks_of(stmt), [&](const Block* block) { return block->output == tensor || reads(*block, tensor); });
}

const Alloc* find_alloc(const Program& program, const Tensor& tensor) {
  const Alloc* found = nullptr;
  for_each(program.main, [&](const StmtNode& node) {
    const Alloc* alloc = std::get_if<Alloc>(&node.node);
    if (alloc != nullptr && alloc->tensor == tensor) found = alloc;
  });
  return found;
}

namespace {

const StmtNode* alloc_node(const Program& program, const Tensor& tensor) {
  const StmtNode* found = nullptr;
  for_each(program.main, [&](const StmtNode& node) {
    const Alloc* alloc = std::get_if<Alloc>(&node.node);
    if (alloc != nullptr && alloc->tensor == tensor) found = &node;
  });
  return found;
}

// Whether a loop from the Alloc down to `loop` (included) drives a reduce axis of a block that writes the
// tensor: then the buffer carries a value from one iteration to the next and must stay outside.
bool carries_reduction(const Program& program, const Tensor& tensor, const StmtNode* alloc,
                       const StmtNode* loop) {
  const Path path = path_to(program.main, loop);
  const auto begin = std::ranges::find_if(path, [&](const Stmt& stmt) { return stmt.get() == alloc; });
  for (const Block* block : blocks_of(path.back())) {
    if (block->output != tensor) continue;
    for (auto it = begin; it != path.end(); ++it) {
      const For* outer = as<For>(*it);
      if (outer != nullptr && drives_reduce_axis(*block, outer->var)) return true;
    }
  }
  return false;
}

}  // namespace

Program without_alloc(const Program& program, const Tensor& tensor) {
  const StmtNode* node = alloc_node(program, tensor);
  return node == nullptr ? program : with_replaced(program, false, node, std::get<Alloc>(node->node).body);
}

Program sink_alloc(const Program& program, const Tensor& tensor, const StmtNode* loop, Scope scope) {
  const StmtNode* node = alloc_node(program, tensor);
  if (node == nullptr) return program;
  const Alloc alloc = std::get<Alloc>(node->node);
  const auto touching = [&](const Stmt& stmt) {
    return std::ranges::count_if(blocks_of(stmt), [&](const Block* block) {
      return block->output == tensor || reads(*block, tensor);
    });
  };
  const Path path = path_to(alloc.body, loop);
  if (path.empty() || touching(path.back()) != touching(alloc.body)) return program;
  if (carries_reduction(program, tensor, node, loop)) return program;
  For target = *as<For>(path.back());
  target.body = make_stmt(Alloc{tensor, scope, alloc.layout, target.body});
  // The outer Alloc goes first, so that only one of the tensor is there to be found.
  return with_replaced(without_alloc(program, tensor), false, loop, make_stmt(std::move(target)));
}

Block redirect_loads(const Block& block, const Tensor& from, const Tensor& to) {
  Block result = block;
  result.value = rebuild(
      block.value, {[&](const Expr& e) -> Expr {
                      const Load* load = e.as<Load>();
                      return load != nullptr && load->tensor == from ? lathe::load(to, load->index) : Expr();
                    },
                    nullptr});
  return result;
}

}  // namespace lathe
