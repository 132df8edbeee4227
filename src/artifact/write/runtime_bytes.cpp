#include "artifact/write/runtime_bytes.h"

// The assembler reads the files: a compiler would take seconds for them as an array.
#define LATHE_EMBED(symbol, file)         \
  asm(".pushsection .rodata\n"            \
      ".balign 16\n" #symbol              \
      "_begin:\n"                         \
      ".incbin \"" file "\"\n" #symbol    \
      "_end:\n"                           \
      ".byte 0\n"                         \
      ".popsection\n");                   \
  extern "C" const char symbol##_begin[]; \
  extern "C" const char symbol##_end[]

LATHE_EMBED(lathe_embedded_archive, LATHE_RUNTIME_ARCHIVE);
LATHE_EMBED(lathe_embedded_abi, LATHE_KERNEL_ABI_HEADER);
LATHE_EMBED(lathe_embedded_tables, LATHE_MODEL_TABLES_HEADER);
LATHE_EMBED(lathe_embedded_face, LATHE_MODEL_FACE_HEADER);
LATHE_EMBED(lathe_embedded_libc, LATHE_LIBC);
LATHE_EMBED(lathe_embedded_libm, LATHE_LIBM);
LATHE_EMBED(lathe_embedded_libpthread, LATHE_LIBPTHREAD);
LATHE_EMBED(lathe_embedded_loader, LATHE_LOADER);
#define LATHE_SOURCE(number, path, file) LATHE_EMBED(lathe_embedded_source##number, file);
#include "artifact/runtime_sources.inc"
#undef LATHE_SOURCE

namespace lathe {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

std::string_view model_runtime_archive() {
  return between(lathe_embedded_archive_begin, lathe_embedded_archive_end);
}
std::string_view kernel_abi_header() { return between(lathe_embedded_abi_begin, lathe_embedded_abi_end); }
std::string_view model_tables_header() {
  return between(lathe_embedded_tables_begin, lathe_embedded_tables_end);
}
std::string_view model_face_header() { return between(lathe_embedded_face_begin, lathe_embedded_face_end); }

std::array<SystemLibrary, 4> system_libraries() {
  return {{{"libc.so.6", between(lathe_embedded_libc_begin, lathe_embedded_libc_end)},
           {"libm.so.6", between(lathe_embedded_libm_begin, lathe_embedded_libm_end)},
           {"libpthread.so.0", between(lathe_embedded_libpthread_begin, lathe_embedded_libpthread_end)},
           {LATHE_LOADER_NAME, between(lathe_embedded_loader_begin, lathe_embedded_loader_end)}}};
}

std::vector<RuntimeSource> portable_runtime() {
#define LATHE_SOURCE(number, path, file) \
  {path, between(lathe_embedded_source##number##_begin, lathe_embedded_source##number##_end)},
  return {
#include "artifact/runtime_sources.inc"
  };
#undef LATHE_SOURCE
}

}  // namespace lathe
