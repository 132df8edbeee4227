// The kernels of a lowered program for a device: what lies under a loop of blocks, and each statement beside
// them. They run one after the other; each sees all that those before it wrote.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "loop/loop.h"

namespace lathe {

struct Kernel {
  std::vector<const For*> blocks;  // outermost first
  Stmt body;                       // of the innermost: nests of threads, barriers and what is around them
  int64_t block_count = 1;
  int64_t threads = 1;  // of a block: those of its largest nest
  std::vector<const Alloc*> shared;
  int64_t shared_bytes = 0;
};

// In order. `tree`: of a program that `merge_threads` went through.
std::vector<Kernel> kernels_of(const Stmt& tree);
// The tree with the whole of each kernel, its loops of blocks included, mapped.
Stmt map_kernels(const Stmt& tree, const std::function<Stmt(const Stmt& kernel)>& map);

}  // namespace lathe
