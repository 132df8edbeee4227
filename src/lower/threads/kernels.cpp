#include "lower/threads/kernels.h"

#include <algorithm>

#include "loop/walk.h"
#include "lower/map.h"

namespace lathe {
namespace {

Kernel kernel_of(const Stmt& stmt) {
  Kernel kernel;
  kernel.body = stmt;
  for (const For* loop = as<For>(stmt); loop != nullptr && loop->kind == LoopKind::block;
       loop = as<For>(kernel.body)) {
    kernel.blocks.push_back(loop);
    kernel.block_count *= constant_extent(*loop);
    kernel.body = loop->body;
  }
  for_each(kernel.body, [&](const StmtNode& node) {
    if (const For* loop = std::get_if<For>(&node.node); loop != nullptr && loop->kind == LoopKind::thread)
      kernel.threads = std::max(kernel.threads, constant_extent(*loop));
    const Alloc* alloc = std::get_if<Alloc>(&node.node);
    if (alloc == nullptr || alloc->scope != Scope::shared) return;
    kernel.shared.push_back(alloc);
    kernel.shared_bytes +=
        physical_elements(alloc->layout, alloc->tensor->shape) * bytes_of(alloc->tensor->dtype);
  });
  return kernel;
}

}  // namespace

Stmt map_kernels(const Stmt& tree, const std::function<Stmt(const Stmt& kernel)>& map) {
  const Alloc* alloc = as<Alloc>(tree);
  const bool is_around = as<Seq>(tree) != nullptr || (alloc != nullptr && alloc->scope == Scope::workspace);
  if (!is_around) return map(tree);
  return map_statements(tree, [&](const Stmt& child) { return map_kernels(child, map); });
}

std::vector<Kernel> kernels_of(const Stmt& tree) {
  std::vector<Kernel> kernels;
  if (!tree) return kernels;
  map_kernels(tree, [&](const Stmt& kernel) {
    kernels.push_back(kernel_of(kernel));
    return kernel;
  });
  return kernels;
}

}  // namespace lathe
