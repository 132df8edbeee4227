#include "base/abridged.h"

namespace lathe {

std::string abridged(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto continues = [&](size_t i) { return (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80; };
  while (most > 0 && continues(most)) --most;
  return std::string(text.substr(0, most)) + " ..";
}

}  // namespace lathe
