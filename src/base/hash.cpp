#include "base/hash.h"

#include <fmt/format.h>

namespace lathe {

std::string hash_to_string(uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace lathe
