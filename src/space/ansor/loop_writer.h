// The steps of one node's loops: splits and order, what the cores share, where results are collected, vectors
// and what is written out ([B] II-B). What the compiler behind [B]'s code makes of such loops by itself is
// said by steps here: results are collected in registers where the innermost tile is written out, or in
// vectors, whole, and fits them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "space/ansor/node_loops.h"
#include "space/rules/decider.h"

namespace lathe {

// What is to be done with the loops.
struct LoopWork {
  const Stage& stage;
  bool reduces = false;
  int64_t unroll = 0;
  bool unrolls_innermost = false;  // whatever `unroll` is
  int64_t pieces = 0;              // for each core; 0: the loops are not shared
  std::vector<size_t> held = {};   // loops with producers inside: none of them is written out
  // Of the tile at whose end results are taken: 0: nobody takes them.
  int level = 0;
  const Compute* taker = nullptr;  // the element-wise consumer that does; null: a copy
  Layout layout = {};              // of the results
};

// Writes them; the shared loops have one name afterwards. An Error where the body becomes too long.
Status write_node_loops(Writer& writer, NodeLoops& loops, const LoopWork& work);

}  // namespace lathe
