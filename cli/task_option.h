// The task that --task names in a records file.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace lathe::cli {

// Its hash, from up to 16 hexadecimal digits.
Result<uint64_t> parse_task(const std::string& text);
// The Error for a task that the file does not have.
std::unexpected<Error> no_such_task(const std::string& file, const std::string& task);

}  // namespace lathe::cli
