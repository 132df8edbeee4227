// What every parser of a text form promises: what it takes it prints, and takes the print for the same.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"

namespace lathe::fuzz {

inline std::string_view as_text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// `parse` gives a Result, `print` a text. Ends the program where the second print differs from the first.
template <class Parse, class Print>
void round_trip(std::string_view text, const Parse& parse, const Print& print) {
  const auto first = parse(text);
  if (!first) return;
  const std::string printed = print(*first);
  const auto second = parse(printed);
  LATHE_CHECK(second.has_value());
  LATHE_CHECK(print(*second) == printed);
}

}  // namespace lathe::fuzz
