// Places for files that must not take another's.
#pragma once

#include <string>

#include "base/result.h"

namespace lathe {

// The path itself, or with the first number that makes it a new one: made, and not looked for, so that two
// who need a place at once get two. It is empty, which SQLite takes for a new database.
Result<std::string> claim_free_path(const std::string& path);

}  // namespace lathe
