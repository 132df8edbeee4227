// Where what a records file cannot take is kept; damaged records are damage.h's.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace lathe {

// Has FILE.saved written beside the file, or else in /tmp: what filled or removed the one place need not have
// done so to the other. Gives the path; leaves nothing of what failed. The Error is that of the first.
Result<std::string> write_aside(const std::string& file,
                                const std::function<Status(const std::string&)>& write);

}  // namespace lathe
