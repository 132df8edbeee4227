#include "runtime/buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace lathe {

Result<GuardedBuffer> GuardedBuffer::allocate(int64_t bytes, PagePlace place) {
  const GuardedLayout layout = guarded_layout(bytes, place);
  const size_t reserved = static_cast<size_t>(layout.mapped_bytes + 2 * kGuardBytes);
  void* reservation = mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reservation == MAP_FAILED) {
    return fail(ErrorKind::io, fmt::format("cannot allocate {} bytes: {}", bytes, std::strerror(errno)));
  }
  GuardedBuffer buffer;
  buffer.mapping_ = static_cast<std::byte*>(reservation) + kGuardBytes;
  buffer.layout_ = layout;
  if (mprotect(buffer.mapping_, static_cast<size_t>(layout.mapped_bytes), PROT_READ | PROT_WRITE) != 0) {
    return fail(ErrorKind::io, fmt::format("cannot allocate {} bytes: {}", bytes, std::strerror(errno)));
  }
  fill_slack(buffer.mapping_, layout);
  return buffer;
}

GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer&& other) noexcept {
  if (this == &other) return *this;
  release();
  mapping_ = std::exchange(other.mapping_, nullptr);
  layout_ = std::exchange(other.layout_, {});
  return *this;
}

void GuardedBuffer::fill_with_nan() { std::memset(data(), 0xff, static_cast<size_t>(layout_.bytes)); }

void GuardedBuffer::release() {
  if (mapping_ == nullptr) return;
  munmap(mapping_ - kGuardBytes, static_cast<size_t>(layout_.mapped_bytes + 2 * kGuardBytes));
  mapping_ = nullptr;
}

}  // namespace lathe
