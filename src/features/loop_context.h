// What AutoTVM's models see of each loop (section 3.1, "context", and figure 3): its length and kind, how
// much runs outside and inside of it, and how often what it touches of each buffer is used again.
#pragma once

#include <string>
#include <vector>

#include "features/block_summary.h"

namespace lathe {

// What one run of a loop, all its iterations, does with one buffer. Two accesses to a buffer with other
// strides are two.
struct BufferTouch {
  const TensorNode* tensor = nullptr;
  bool writes = false;
  double touched = 1;  // elements
  double reuse = 1;    // innermost iterations for each of them
  double stride = 0;   // elements between two iterations; 0: the same ones, or no constant
};

struct LoopContext {
  Var var;
  double length = 1;
  LoopKind kind = LoopKind::serial;
  double top_down = 1;   // iterations of the loops outside, itself apart
  double bottom_up = 1;  // innermost iterations of one run of it
  // The written buffer first, then those that are read, by how much of them the whole nest touches.
  std::vector<BufferTouch> touches;
};

constexpr size_t kContextBuffers = 5;  // that have numbers in a row; those beyond them are left out

// The loops around one block, outermost first.
std::vector<LoopContext> loop_contexts(const BlockSummary& block);
// All loops of a program in its order, each once; what several blocks do in one is put together.
std::vector<LoopContext> loop_contexts(const std::vector<BlockSummary>& blocks);
// Which of them each one lies in, by its place; -1: in none.
std::vector<int> loop_parents(const std::vector<BlockSummary>& blocks);
// The loops of the longest chain from the root to a block; of chains of equal length the one of most
// iterations, then the first. Empty where there is no block.
std::vector<LoopContext> longest_chain(const std::vector<BlockSummary>& blocks);

// A context as numbers: kinds as one number each, counts as log2(1 + x); buffers that it does not have are 0.
const std::vector<std::string>& loop_context_names();
std::vector<float> context_numbers(const LoopContext& context);

}  // namespace lathe
