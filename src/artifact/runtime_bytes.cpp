#include "artifact/runtime_bytes.h"

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

}  // namespace lathe
