#include "runtime/open_guards.h"

#include <sys/mman.h>
#include <unistd.h>

namespace lathe {
namespace {

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

// Where the system refuses, the program is timed as slow as it is beside a guard. A page that nobody touched
// is not there for the processor: lanes that are masked out fault on it as on a closed one.
void OpenGuards::open(const std::byte* mapping, const GuardedLayout& layout) {
  auto* const page = const_cast<std::byte*>(mapping + layout.mapped_bytes);
  if (mprotect(page, page_bytes(), PROT_READ | PROT_WRITE) != 0) return;
  pages_.push_back(page);
  *static_cast<volatile std::byte*>(page) = std::byte{0};
}

void OpenGuards::close() {
  for (std::byte* const page : pages_) mprotect(page, page_bytes(), PROT_NONE);
}

}  // namespace lathe
