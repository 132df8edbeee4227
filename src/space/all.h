// The table of spaces: ways to derive the programs that may be tried for a task. A new one is a row here, the
// files that derive it and a test; --space and records know it by its name.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "space/space.h"
#include "task/task.h"

namespace lathe {

struct SpaceKind {
  std::string_view name;
  Result<Space> (*derive)(const Task& task);  // an Error of kind unsupported where it has no program for it
};

// The default first.
std::span<const SpaceKind> space_kinds();
inline constexpr std::string_view kDefaultSpace = "lathe";

// An Error of kind invalid_argument, which names the legal names, where there is no such space; of kind
// unsupported where that space has no program for the task.
Result<Space> derive_space(const Task& task, std::string_view kind = kDefaultSpace);

}  // namespace lathe
