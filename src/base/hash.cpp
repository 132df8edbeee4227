#include "base/hash.h"

#include <fmt/format.h>

#include <charconv>

namespace lathe {

std::string hash_to_string(uint64_t hash) { return fmt::format("{:016x}", hash); }

std::optional<uint64_t> hash_from_string(std::string_view text) {
  uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return hash;
}

}  // namespace lathe
