#include "codegen/buffers.h"

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "codegen/patterns.h"
#include "loop/walk.h"

namespace lathe {
namespace {

BufferUse locate(const LoweredProgram& lowered, const Tensor& tensor) {
  BufferUse use{.tensor = tensor};
  const Program& program = lowered.program;
  for (size_t i = 0; i < program.arguments.size(); ++i) {
    if (program.arguments[i].tensor == tensor) {
      use.argument = static_cast<int>(i);
      use.streams = program.arguments[i].streams;
      return use;
    }
  }
  for (size_t i = 0; i < program.prepared.size(); ++i) {
    if (program.prepared[i].tensor == tensor) {
      use.argument = static_cast<int>(program.arguments.size() + i);
      return use;
    }
  }
  if (const BufferPlace* place = lowered.memory.find(tensor)) {
    use.storage = place->arena == Arena::workspace ? Storage::workspace
                  : place->arena == Arena::thread  ? Storage::thread
                  : place->arena == Arena::shared  ? Storage::shared
                                                   : Storage::registers;
    use.offset = place->offset;
    use.bytes = place->bytes;
    return use;
  }
  LATHE_CHECK(!tensor->literal.empty());
  use.storage = Storage::literal;
  return use;
}

// Calls `visit` with the tensor of every load, store and prefetch, indirect loads included.
void for_each_access(const Stmt& stmt, const std::function<void(const Tensor&)>& visit) {
  const auto visit_loads = [&](const Expr& e) {
    for_each_once(e, [&](const Expr& part) {
      if (const auto* load = part.as<Load>()) visit(load->tensor);
    });
  };
  const auto visit_index = [&](const Affine& index) { visit_loads(Expr(index)); };
  for_each(stmt, [&](const StmtNode& node) {
    if (const auto* store = std::get_if<Store>(&node.node)) {
      visit(store->tensor);
      for (const Affine& index : store->index) visit_index(index);
      visit_loads(store->value);
      visit_loads(store->mask);
    } else if (const auto* prefetch = std::get_if<Prefetch>(&node.node)) {
      visit(prefetch->tensor);
      for (const Affine& index : prefetch->index) visit_index(index);
    } else if (const auto* guard = std::get_if<If>(&node.node)) {
      for (const Conjunct& conjunct : guard->conditions) visit_index(conjunct.value);
    } else if (const auto* loop = std::get_if<For>(&node.node)) {
      for (const Affine& extent : loop->extents) visit_index(extent);
    }
  });
}

}  // namespace

std::vector<BufferUse> buffers_used(const LoweredProgram& lowered, const Stmt& stmt) {
  std::vector<BufferUse> uses;
  for_each_access(stmt, [&](const Tensor& tensor) {
    const auto same = [&](const BufferUse& use) { return use.tensor == tensor; };
    if (std::none_of(uses.begin(), uses.end(), same)) uses.push_back(locate(lowered, tensor));
  });
  return uses;
}

bool may_overlap(const BufferUse& a, const BufferUse& b) {
  if (a.storage != b.storage) return false;
  if (a.storage != Storage::workspace && a.storage != Storage::thread) return false;
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

}  // namespace lathe
