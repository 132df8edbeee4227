#include "measure/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace lathe {
namespace {

std::unexpected<Error> system_failure(const char* what, int64_t bytes) {
  return fail(ErrorKind::io,
              fmt::format("cannot {} {} bytes of shared memory: {}", what, bytes, std::strerror(errno)));
}

}  // namespace

Result<MappedBuffer> MappedBuffer::map(int file, int64_t offset, int64_t bytes, Access access) {
  const GuardedLayout layout = guarded_layout(bytes);
  const size_t mapped = static_cast<size_t>(layout.mapped_bytes);
  void* reservation =
      mmap(nullptr, mapped + 2 * kGuardBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reservation == MAP_FAILED) return system_failure("reserve addresses for", bytes);
  MappedBuffer buffer;
  buffer.mapping_ = static_cast<std::byte*>(reservation) + kGuardBytes;
  buffer.layout_ = layout;
  // Populated at once: page faults in the first run of a kernel would be counted as its own time.
  const int protection = access == Access::read ? PROT_READ : PROT_READ | PROT_WRITE;
  if (mmap(buffer.mapping_, mapped, protection, MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, offset) ==
      MAP_FAILED) {
    return system_failure("map", bytes);
  }
  return buffer;
}

MappedBuffer& MappedBuffer::operator=(MappedBuffer&& other) noexcept {
  if (this == &other) return *this;
  release();
  mapping_ = std::exchange(other.mapping_, nullptr);
  layout_ = std::exchange(other.layout_, {});
  return *this;
}

void MappedBuffer::release() {
  if (mapping_ == nullptr) return;
  munmap(mapping_ - kGuardBytes, static_cast<size_t>(layout_.mapped_bytes + 2 * kGuardBytes));
  mapping_ = nullptr;
}

Result<SharedMemory> SharedMemory::create() {
  SharedMemory memory;
  memory.file_ = memfd_create("lathe", MFD_CLOEXEC);
  if (memory.file_ < 0) return system_failure("create", 0);
  return memory;
}

SharedMemory::~SharedMemory() {
  if (file_ >= 0) close(file_);
}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(size_, other.size_);
  return *this;
}

Result<int64_t> SharedMemory::extend(int64_t bytes) {
  const int64_t begin = size_;
  const int64_t mapped = guarded_layout(bytes).mapped_bytes;
  if (ftruncate(file_, begin + mapped) != 0) return system_failure("add", bytes);
  size_ = begin + mapped;
  return begin;
}

Result<SharedBuffer> SharedBuffer::allocate(SharedMemory& memory, int64_t bytes) {
  SharedBuffer buffer;
  LATHE_TRY(buffer.offset_, memory.extend(bytes));
  LATHE_TRY(buffer.mapped_,
            MappedBuffer::map(memory.file(), buffer.offset_, bytes, MappedBuffer::Access::read_write));
  buffer.file_ = memory.file();
  fill_slack(buffer.mapped_.mapping(), buffer.mapped_.layout());
  return buffer;
}

SharedBuffer::~SharedBuffer() { give_pages_back(); }

SharedBuffer& SharedBuffer::operator=(SharedBuffer&& other) noexcept {
  if (this == &other) return *this;
  give_pages_back();
  mapped_ = std::move(other.mapped_);
  file_ = std::exchange(other.file_, -1);
  offset_ = other.offset_;
  return *this;
}

void SharedBuffer::give_pages_back() {
  if (file_ < 0) return;
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset_, mapped_.layout().mapped_bytes);
  file_ = -1;
}

}  // namespace lathe
