// Memory of a loaded model: aligned blocks, and the weights file mapped for reading. Owned, movable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

namespace lathe {

// What a caller of the artifact's C face did wrong, or what the system refused; its text is lathe_error's.
class ModelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Every buffer that kernels see is aligned so.
constexpr size_t kModelAlignment = 64;

class AlignedBlock {
 public:
  AlignedBlock() = default;
  // A ModelError that says what the memory was for, where the system does not give it.
  AlignedBlock(int64_t bytes, const std::string& purpose) {
    const size_t rounded =
        (static_cast<size_t>(bytes) + kModelAlignment - 1) / kModelAlignment * kModelAlignment;
    if (rounded == 0) return;
    data_ = static_cast<std::byte*>(std::aligned_alloc(kModelAlignment, rounded));
    if (data_ == nullptr) {
      throw ModelError("there is no memory left for " + purpose + ", " + std::to_string(bytes) + " bytes");
    }
  }
  ~AlignedBlock() { std::free(data_); }
  AlignedBlock(AlignedBlock&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
  AlignedBlock& operator=(AlignedBlock&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }

  // Null where the block was asked for no bytes.
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
};

class MappedFile {
 public:
  MappedFile() = default;
  // A ModelError where the file cannot be read or has another size.
  MappedFile(const std::string& path, int64_t expected_bytes);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace lathe
