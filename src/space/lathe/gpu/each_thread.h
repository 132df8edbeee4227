// Rule for devices of many threads: a stage whose results share nothing gives each thread some of them, so
// that at any time neighbouring threads have neighbouring ones. What a result reduces over its thread adds up
// alone, in a register, where the element-wise consumer takes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "space/rules/decider.h"

namespace lathe {

// Loops that become one, which threads of blocks share.
struct LoopsOfThreads {
  std::vector<std::string> loops = {};  // outermost first
  int64_t threads = 1;                  // of a block
  int64_t each = 1;                     // iterations of a thread
};
// Gives the innermost loop.
std::string write_loops_of_threads(Writer& writer, const std::string& block, const LoopsOfThreads& loops);

struct EachThreadDecision {
  size_t compute = 0;
  LoopsOfThreads results = {};  // no loops: there is but one result
};
EachThreadDecision decide_each_thread(Decider& decider, const Stage& stage);
void write_each_thread(Writer& writer, const EachThreadDecision& decision);

}  // namespace lathe
