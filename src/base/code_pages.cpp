#include "base/code_pages.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace lathe {
namespace {

// Pages that nobody may write are as their file has them: no object here is relocated in its code.
int release_segments(dl_phdr_info* object, size_t, void*) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) & segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const uintptr_t begin = (object->dlpi_addr + segment.p_vaddr) / page * page;
    const uintptr_t end = object->dlpi_addr + segment.p_vaddr + segment.p_memsz;
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void release_code_pages() { dl_iterate_phdr(release_segments, nullptr); }

}  // namespace lathe
