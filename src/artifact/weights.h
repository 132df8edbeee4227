// The file weights.bin in the making: blocks of bytes behind a head that names the build. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace lathe {

class WeightsFile {
 public:
  WeightsFile();

  // Adds the bytes, 64-byte aligned, and returns their offset.
  int64_t add(std::span<const std::byte> bytes);
  // The file's content with its head; this object is used up.
  std::string finish();

  // The id in the head of a finished file.
  static uint64_t id_of(const std::string& file);

 private:
  std::string bytes_;
};

}  // namespace lathe
