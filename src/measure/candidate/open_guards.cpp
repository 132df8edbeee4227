#include "measure/candidate/open_guards.h"

#include <sys/mman.h>
#include <unistd.h>

namespace lathe {
namespace {

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::byte* page_behind(const WatchedBuffer& buffer) {
  return const_cast<std::byte*>(buffer.mapping + buffer.layout.mapped_bytes);
}

}  // namespace

// Where the system refuses, the program is timed as slow as it is beside a guard. A page that nobody touched
// is not there for the processor: lanes that are masked out fault on it as on a closed one.
OpenGuards::OpenGuards(std::span<const WatchedBuffer> buffers, std::span<const WatchedBuffer> writable) {
  for (const WatchedBuffer& buffer : buffers) {
    std::byte* const page = page_behind(buffer);
    if (mprotect(page, page_bytes(), PROT_READ) != 0) continue;
    pages_.push_back(page);
    [[maybe_unused]] const std::byte touched = *static_cast<const volatile std::byte*>(page);
  }
  for (const WatchedBuffer& buffer : writable) {
    std::byte* const page = page_behind(buffer);
    if (mprotect(page, page_bytes(), PROT_READ | PROT_WRITE) == 0)
      *static_cast<volatile std::byte*>(page) = std::byte{0};
  }
}

OpenGuards::~OpenGuards() {
  for (std::byte* const page : pages_) mprotect(page, page_bytes(), PROT_NONE);
}

}  // namespace lathe
