// This program's own file, and what lies beside it.
#pragma once

#include <string>

#include "base/result.h"

namespace lathe::cli {

// The path of the running executable.
Result<std::string> executable_path();
// The path of `name` in its folder, whether or not it is there.
Result<std::string> beside_executable(const std::string& name);

}  // namespace lathe::cli
