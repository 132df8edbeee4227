// Memory that the measuring process and its worker both see: one anonymous file, from which buffers are cut.
// Both sides map a buffer between guard pages (runtime/guarded_layout.h), the worker read-only where a kernel
// must not write. Offsets are never used twice, so an offset names a buffer for good; a buffer's pages are
// given back when the side that allocated it drops it. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "runtime/guarded_layout.h"

namespace lathe {

// A part of a shared file in this process's memory, between guard pages. Owns the mapping, not the pages.
class MappedBuffer {
 public:
  enum class Access { read, read_write };
  // `offset` is a multiple of the page size. An io error where the system refuses.
  static Result<MappedBuffer> map(int file, int64_t offset, int64_t bytes, Access access);

  MappedBuffer() = default;
  ~MappedBuffer() { release(); }
  MappedBuffer(MappedBuffer&& other) noexcept { *this = std::move(other); }
  MappedBuffer& operator=(MappedBuffer&& other) noexcept;

  // The first mapped byte, slack included.
  std::byte* mapping() const { return mapping_; }
  std::byte* data() const { return mapping_ + layout_.data_offset; }
  std::span<std::byte> bytes() const { return {data(), static_cast<size_t>(layout_.bytes)}; }
  const GuardedLayout& layout() const { return layout_; }

 private:
  void release();

  std::byte* mapping_ = nullptr;
  GuardedLayout layout_;
};

// The file itself; closed with this object.
class SharedMemory {
 public:
  static Result<SharedMemory> create();
  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept { *this = std::move(other); }
  SharedMemory& operator=(SharedMemory&& other) noexcept;

  int file() const { return file_; }
  // Lengthens the file by so many bytes in whole pages; returns where they begin.
  Result<int64_t> extend(int64_t bytes);

 private:
  int file_ = -1;
  int64_t size_ = 0;
};

// A buffer cut from the file, mapped for writing, its slack filled with the canary.
class SharedBuffer {
 public:
  // `memory` must outlive the buffer.
  static Result<SharedBuffer> allocate(SharedMemory& memory, int64_t bytes);
  SharedBuffer() = default;
  ~SharedBuffer();
  SharedBuffer(SharedBuffer&& other) noexcept { *this = std::move(other); }
  SharedBuffer& operator=(SharedBuffer&& other) noexcept;

  int64_t offset() const { return offset_; }
  std::span<std::byte> bytes() const { return mapped_.bytes(); }

 private:
  void give_pages_back();

  MappedBuffer mapped_;
  int file_ = -1;
  int64_t offset_ = 0;
};

}  // namespace lathe
