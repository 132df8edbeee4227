// Memory of a loaded model: arrays, aligned blocks, and the weights file mapped for reading. Owned, not
// copied. What the system refuses is a model_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "artifact/runtime/model_error.h"
#include "artifact/runtime/model_tables.h"

namespace lathe {

// Every buffer that kernels see is aligned so.
constexpr size_t kModelAlignment = 64;

// So many objects, all made at once; none before `create`.
template <class Element>
class ModelArray {
 public:
  ModelArray() = default;
  ~ModelArray() {
    for (int64_t i = 0; i < size_; ++i) data_[i].~Element();
    std::free(static_cast<void*>(data_));
  }
  ModelArray(const ModelArray&) = delete;
  ModelArray& operator=(const ModelArray&) = delete;

  bool create(int64_t size) {
    if (size == 0) return true;
    data_ = static_cast<Element*>(std::calloc(static_cast<size_t>(size), sizeof(Element)));
    if (data_ == nullptr) return model_error("there is no memory left");
    for (; size_ < size; ++size_) new (static_cast<void*>(&data_[size_])) Element();
    return true;
  }

  int64_t size() const { return size_; }
  Element* data() const { return data_; }
  Element& operator[](int64_t index) const { return data_[index]; }
  Element* begin() const { return data_; }
  Element* end() const { return data_ + size_; }

 private:
  Element* data_ = nullptr;
  int64_t size_ = 0;
};

// Whether two runs of bytes have some in common.
inline bool overlap(const void* one, int64_t one_bytes, const void* other, int64_t other_bytes) {
  const auto first = reinterpret_cast<uintptr_t>(one);
  const auto second = reinterpret_cast<uintptr_t>(other);
  return first < second + static_cast<uintptr_t>(other_bytes) &&
         second < first + static_cast<uintptr_t>(one_bytes);
}

// Bytes for kernels.
class AlignedBlock {
 public:
  AlignedBlock() = default;
  ~AlignedBlock() { std::free(data_); }
  AlignedBlock(const AlignedBlock&) = delete;
  AlignedBlock& operator=(const AlignedBlock&) = delete;

  // `purpose` is what the error calls it.
  bool create(int64_t bytes, const char* purpose);
  // For a copy of the tensor, all zero.
  bool create_copy(int64_t bytes, const LatheTensor& tensor);

  // Null where the block was asked for no bytes, or for none yet.
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
};

// The weights of the model that the tables describe.
class MappedWeights {
 public:
  MappedWeights() = default;
  ~MappedWeights();
  MappedWeights(const MappedWeights&) = delete;
  MappedWeights& operator=(const MappedWeights&) = delete;

  // A model_error where the folder's file cannot be read or is another model's.
  bool map(const LatheModelTables& tables, const char* folder);

  std::byte* data() const { return data_; }

 private:
  bool map_file(const LatheModelTables& tables, const char* folder, int file);

  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace lathe
