// Where a program's time must go at least: each block's operations and the bytes that its loops move through
// the caches, against what the machine can do at most. From the scheduled loops alone, nothing is run.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "loop/loop.h"
#include "target/target.h"

namespace lathe {

// What limits a block: the units, or the way from the second level, from the third, or from memory.
enum class Bottleneck { units, second_level, third_level, memory };
const char* to_string(Bottleneck limit);

// The machine's measured peaks on the cores that the program uses.
struct Roofline {
  double gflops = 0;                            // fp32 FMAs between registers, two operations each
  std::array<double, 3> gigabytes = {1, 1, 1};  // read a second from the second level, the third, memory
};

struct StageBound {
  std::string block;
  double operations = 0;
  std::array<double, 3> bytes = {0, 0, 0};  // that come from beyond the first level, the second, the third
  double seconds = 0;                       // the longest of the four
  Bottleneck limit = Bottleneck::units;
};

// In program order. Bytes are counted by footprints: the outermost loop whose data fit into a level keeps
// them there, and each iteration of a loop outside it fetches them again. Of a program that runs cold (Task)
// constants and outputs come from memory at least once.
std::vector<StageBound> stage_bounds(const Program& program, const Target& target, const Roofline& roofline,
                                     bool runs_cold = false);

}  // namespace lathe
