#include "artifact/write/cross_compiler.h"

#include <algorithm>
#include <iterator>

namespace lathe {
namespace {

constexpr CrossCompiler kCompilers[] = {
    {"aarch64-neon", "aarch64-linux-gnu-g++", "g++-aarch64-linux-gnu"},
};

}  // namespace

const CrossCompiler* find_cross_compiler(std::string_view target) {
  const auto* found = std::ranges::find(kCompilers, target, &CrossCompiler::target);
  return found == std::end(kCompilers) ? nullptr : found;
}

}  // namespace lathe
