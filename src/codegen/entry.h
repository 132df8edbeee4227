// The names of a module's entries, which every backend defines (lathe/kernel_abi.h).
#pragma once

#include <string>

namespace lathe {

struct EntrySymbols {
  std::string kernel;
  std::string prepare;  // defined only where the program has something to prepare

  bool operator==(const EntrySymbols&) const = default;
};

// "<prefix>_kernel" and "<prefix>_prepare". The prefix must be a C identifier.
inline EntrySymbols entry_symbols(const std::string& prefix) {
  return {prefix + "_kernel", prefix + "_prepare"};
}

}  // namespace lathe
