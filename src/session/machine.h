// This machine: the targets that there are, and the yardsticks that figures are given against.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "target/target.h"

namespace lathe {

// The names of all targets, as help texts list them.
std::string known_targets();

// A figure that was measured: "fma peak", 71.2, "GFLOP/s", on so many cores.
struct MachineFigure {
  std::string name;
  double value = 0;
  std::string unit;
  int cores = 1;
};
// Looks at the machine, tells `found`, then measures; each figure is told as it is known.
Status measure_machine(const std::function<void(const Target&)>& found,
                       const std::function<void(const MachineFigure&)>& measured);

}  // namespace lathe
