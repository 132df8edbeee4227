// Files as a whole.
#pragma once

#include <string>

#include "base/result.h"

namespace lathe {

// What the file holds, byte by byte. The Error names the file.
Result<std::string> read_file(const std::string& path);

}  // namespace lathe
