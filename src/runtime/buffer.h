// Memory for a kernel's arguments and workspace: 64-byte aligned, between guard pages, with a canary in the
// slack. Owns its pages; movable; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "runtime/guarded_layout.h"

namespace lathe {

class GuardedBuffer {
 public:
  // Zeroed memory of so many bytes; an io error where the system has none left.
  static Result<GuardedBuffer> allocate(int64_t bytes, PagePlace place = PagePlace::end);

  GuardedBuffer() = default;
  ~GuardedBuffer() { release(); }
  GuardedBuffer(GuardedBuffer&& other) noexcept { *this = std::move(other); }
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;

  std::byte* data() { return mapping_ + layout_.data_offset; }
  std::span<std::byte> bytes() { return {data(), static_cast<size_t>(layout_.bytes)}; }
  std::span<const std::byte> bytes() const {
    return {mapping_ + layout_.data_offset, static_cast<size_t>(layout_.bytes)};
  }
  const GuardedLayout& layout() const { return layout_; }

  // Every byte 0xff: NaN in every floating-point type, so that an element never written is seen.
  void fill_with_nan();
  // See guarded_layout.h.
  std::optional<int64_t> overwritten_slack() const { return find_overwritten_slack(mapping_, layout_); }

 private:
  void release();

  std::byte* mapping_ = nullptr;
  GuardedLayout layout_;
};

}  // namespace lathe
