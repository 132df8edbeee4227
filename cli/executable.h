// Programs that lie beside this one.
#pragma once

#include <string>

#include "base/result.h"

namespace lathe::cli {

// The path of the program `name` in the folder of the running executable; an Error where it is not there.
Result<std::string> beside_executable(const std::string& name);

}  // namespace lathe::cli
