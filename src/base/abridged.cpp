#include "base/abridged.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace lathe {
namespace {

// The bytes of the UTF-8 character that the text begins with; 0 where it begins with none.
size_t bytes_of_character(std::string_view text) {
  const auto ones = [](char c) {
    return static_cast<size_t>(std::countl_one(static_cast<unsigned char>(c)));
  };
  const size_t first = ones(text.front());
  const size_t bytes = first == 0 ? 1 : first;
  if (first == 1 || first > 4 || text.size() < bytes) return 0;
  const bool is_whole = std::ranges::all_of(text.substr(1, bytes - 1), [&](char c) { return ones(c) == 1; });
  return is_whole ? bytes : 0;
}

}  // namespace

std::string abridged(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto continues = [&](size_t i) { return (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80; };
  while (most > 0 && continues(most)) --most;
  return std::string(text.substr(0, most)) + " ..";
}

std::string printable(std::string_view text) {
  std::string printed;
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const size_t bytes = first < 0x20 || first == 0x7f ? 0 : bytes_of_character(text);
    printed += bytes == 0 ? fmt::format("\\x{:02x}", first) : std::string(text.substr(0, bytes));
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return printed;
}

}  // namespace lathe
