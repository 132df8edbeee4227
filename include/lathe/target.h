// The machine that programs are made for.
#pragma once

#include <string>

#include "lathe/result.h"

namespace lathe {

struct TargetChoice {
  // "native", or another name that `lathe target` and docs/command_line.md list, perhaps with fields.
  std::string name = "native";
  // How many cores the programs use; 0: all that this process may use, or those of the target.
  int cores = 0;
};

// The target in its printed form, which names its vector units, caches and cores. An Error where there is no
// such target, or this machine runs it and has fewer cores.
Result<std::string> describe_target(const TargetChoice& choice);

}  // namespace lathe
