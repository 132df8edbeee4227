// Files as a whole.
#pragma once

#include <string>

#include "base/result.h"

namespace lathe {

// What the file or pipe holds, byte by byte; no device's, which may have no end. The Error names the file.
Result<std::string> read_file(const std::string& path);

// The same of a file that somebody else may have put there: what may wait for a writer or never end, as a
// pipe or a device, is an Error.
Result<std::string> read_regular_file(const std::string& path);

}  // namespace lathe
