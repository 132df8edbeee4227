// What lies at a path. That nothing does and that one may not look are two things.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace lathe {

// Links are followed; `not_found` where there is nothing. An Error, which names the path, where the system
// does not tell.
Result<std::filesystem::file_type> file_type_of(const std::string& path);

}  // namespace lathe
