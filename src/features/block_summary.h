// What one block does in its loops: how often, on how much memory at each level of the nest, in which
// vectors.
#pragma once

#include <vector>

#include "loop/walk.h"

namespace lathe {

struct LoopLevel {
  Var var;
  int64_t extent = 1;
  LoopKind kind = LoopKind::serial;  // blocks of a device count as parallel, its threads as vectorized
  bool reduces = false;              // drives a reduce axis of the block
};

struct AccessSummary {
  const TensorNode* tensor = nullptr;
  bool writes = false;
  bool in_registers = false;
  int64_t vector_stride = 0;     // elements between lanes (0: broadcast), -1: no constant stride
  int64_t inner_stride = 0;      // the same for the innermost serial loop
  std::vector<int64_t> strides;  // elements between two iterations of each level's loop; -1: no constant
  std::vector<int64_t>
      footprint;  // bytes touched by one run of the loops from level l inwards; [levels]: one element
};

struct BlockSummary {
  const Block* block = nullptr;
  std::vector<LoopLevel> levels;        // outermost first
  std::vector<AccessSummary> accesses;  // the write first
  double instances = 1;                 // product of all extents
  double useful = 1;                    // points of the block's domain, times recomputation
  double operations = 0;                // floating-point operations an instance

  double work() const { return instances * (operations > 0 ? operations : 0.25); }
  // Product of the extents of the loops from level `first` to before level `last`.
  double iterations(size_t first, size_t last) const;
};

// All blocks of a program's main part.
std::vector<BlockSummary> summarise_blocks(const Program& program);

}  // namespace lathe
