// artifact/runtime/instructions.h for AArch64.
#include "artifact/runtime/instructions.h"

#include <cstring>

namespace lathe {
namespace {

const char* lacking(uint32_t) { return nullptr; }

constexpr Instructions kNeon = {"aarch64-neon", "128-bit vectors", [] { return true; }, lacking, nullptr};

}  // namespace

const Instructions* find_instructions(const char* target) {
  return std::strcmp(kNeon.target, target) == 0 ? &kNeon : nullptr;
}

}  // namespace lathe
