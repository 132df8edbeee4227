// Names what made a record: records of another version of the compiler are not counted as this one's.
#pragma once

#include <string>

namespace lathe {

// "0.2.0", the project's version.
std::string compiler_version();

}  // namespace lathe
