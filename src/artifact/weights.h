// The file weights.bin in the making: blocks of bytes behind a head that names their model. Used by one
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace lathe {

struct Model;

class WeightsFile {
 public:
  WeightsFile();

  // Room for so many bytes of blocks, so that they need not move as they come: gigabytes would be there
  // twice.
  void reserve(int64_t bytes);
  // Adds the bytes, 64-byte aligned, and returns their offset.
  int64_t add(std::span<const std::byte> bytes);
  // The file's content with its head, but for the build; this object is used up.
  std::string finish();

  // The id in the head of a finished file, of what follows.
  static uint64_t id_of(const std::string& file);
  // What that id must be, for what the file holds.
  static uint64_t content_id(std::string file);
  // The head of the model's file, which names the model and its build.
  static std::string head_for(const Model& model);

 private:
  std::string bytes_;
};

}  // namespace lathe
