#include "base/read_file.h"

#include <array>
#include <filesystem>
#include <fstream>

#include "base/file_type.h"

namespace lathe {

Result<std::string> read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return fail(ErrorKind::io, "this is a folder, not a file", path);
  if (std::filesystem::is_character_file(path, ignored) || std::filesystem::is_block_file(path, ignored))
    return fail(ErrorKind::io, "this is a device, which may have no end, and not a file", path);
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorKind::not_found, "there is no such file, or it cannot be read", path);
  std::string text;
  const uintmax_t size = std::filesystem::file_size(path, ignored);
  if (!ignored) text.reserve(size);  // grown as it comes it would take up to three times its size
  std::array<char, 1 << 16> part;
  do {
    file.read(part.data(), part.size());
    text.append(part.data(), static_cast<size_t>(file.gcount()));
  } while (file);
  if (file.bad()) return fail(ErrorKind::io, "the file cannot be read", path);
  return text;
}

Result<std::string> read_regular_file(const std::string& path) {
  using std::filesystem::file_type;
  LATHE_TRY(const file_type type, file_type_of(path));
  if (type == file_type::regular || type == file_type::directory || type == file_type::not_found)
    return read_file(path);
  return fail(ErrorKind::io, "this is a pipe or a device, not a regular file", path);
}

}  // namespace lathe
