#include "peers/openblas_core.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lathe {
namespace {

constexpr std::pair<std::string_view, const char*> kCores[] = {
    {"x86-avx512", "SkylakeX"},
    {"x86-avx2", "Haswell"},
    {"aarch64-neon", "ARMV8"},
};

}  // namespace

const char* openblas_core(std::string_view target) {
  const auto* core = std::ranges::find(kCores, target, [](const auto& known) { return known.first; });
  return core == std::end(kCores) ? nullptr : core->second;
}

}  // namespace lathe
