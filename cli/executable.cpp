#include "cli/executable.h"

#include <fmt/format.h>

#include <filesystem>

namespace lathe::cli {

Result<std::string> executable_path() {
  const std::string link = "/proc/self/exe";
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink(link, error);
  if (!error) return self.string();
  return fail(ErrorKind::io, fmt::format("the program's own path cannot be read: {}", error.message()), link);
}

Result<std::string> beside_executable(const std::string& name) {
  LATHE_TRY(const std::filesystem::path self, executable_path());
  return (self.parent_path() / name).string();
}

}  // namespace lathe::cli
