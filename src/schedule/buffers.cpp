// Primitives on how buffers and axes are treated: layout, tail, prefetch.
#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

Result<Program> set_layout(const Program& program, const LayoutStep& step) {
  const TensorNode* tensor = tensor_named(program, step.tensor);
  if (tensor == nullptr) return illegal(fmt::format("there is no buffer '{}'", step.tensor));
  if (Status status = verify(step.layout, tensor->shape); !status) return illegal(status.error().message);
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

Result<Program> set_tail(const Program& program, const TailStep& step) {
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

Result<Program> prefetch(const Program& program, const PrefetchStep& step) {
  LATHE_TRY(const Located located, locate(program, step.block));
  LATHE_TRY(const size_t position, located.loop(step.loop));
  const auto loads = loads_of(located.block->value);
  const auto load =
      std::ranges::find_if(loads, [&](const Load* l) { return l->tensor->name == step.tensor; });
  if (load == loads.end()) {
    return illegal(fmt::format("block '{}' does not read '{}'", step.block, step.tensor));
  }
  Substitution bindings;
  for (const BlockAxis& axis : located.block->axes) bindings.emplace_back(axis.axis.var, axis.binding);
  Substitution ahead;
  for (size_t i = position + 1; i < located.path.size(); ++i) {
    if (const For* inner = as<For>(located.path[i])) ahead.emplace_back(inner->var, Affine(0));
  }
  For loop = located.loop_at(position);
  ahead.emplace_back(loop.var, Affine(loop.var) + step.distance);
  Prefetch fetch{(*load)->tensor, {}};
  for (const Affine& index : (*load)->index)
    fetch.index.push_back(substitute(substitute(index, bindings), ahead));
  loop.body = prepend(loop.body, make_stmt(std::move(fetch)));
  return with_replaced(program, located.in_prepare, located.path[position].get(), make_stmt(std::move(loop)));
}

}  // namespace lathe
