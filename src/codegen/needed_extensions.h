// Which extensions of its target the code of a program has.
#pragma once

#include <string>
#include <vector>

#include "lower/lower.h"
#include "target/target.h"

namespace lathe {

// Those of the instructions that its intrinsics become on the target, in the order of kExtensions. Code of
// programs without any runs wherever the target's name does.
std::vector<std::string> needed_extensions(const LoweredProgram& lowered, const Target& target);

}  // namespace lathe
