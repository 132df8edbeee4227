#include "base/compiler_version.h"

namespace lathe {

std::string compiler_version() { return LATHE_VERSION; }

}  // namespace lathe
