#include "base/scratch_folder.h"

#include <fmt/format.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace lathe {

namespace fs = std::filesystem;

Result<ScratchFolder> ScratchFolder::create(const std::string& parent) {
  std::error_code error;
  fs::create_directories(parent, error);
  if (error)
    return fail(ErrorKind::io, fmt::format("the folder cannot be made: {}", error.message()), parent);
  std::string name = parent + "/.build-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    return fail(ErrorKind::io, fmt::format("the folder cannot be written: {}", std::strerror(errno)), parent);
  }
  return ScratchFolder(std::move(name));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace lathe
