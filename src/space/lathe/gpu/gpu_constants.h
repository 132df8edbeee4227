// The thresholds of the rules for devices of many threads, in one place. They bound what is offered and say
// what is tried first; what a device cannot hold is left out by the fields of its target.
#pragma once

#include <cstdint>

namespace lathe {

struct GpuConstants {
  int64_t threads = 128;           // of a block, where a stage has enough results
  int64_t most_each = 8;           // results of a thread of a stage without reuse
  int64_t tile = 64;               // results of a block along either side of a product
  int64_t smallest_tile = 16;      // to which it shrinks so that every unit has a block
  int64_t side_of_thread = 4;      // results of a thread along either side
  int64_t most_accumulators = 64;  // of a thread: compilers keep these in registers
  int64_t depth = 16;              // terms that a block stages at once
};

}  // namespace lathe
