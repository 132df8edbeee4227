#include "cli/executable.h"

#include <fmt/format.h>

#include <filesystem>

namespace lathe::cli {

Result<std::string> beside_executable(const std::string& name) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path path = self.parent_path() / name;
  if (!error && std::filesystem::exists(path, error)) return path.string();
  return fail(ErrorKind::not_found, fmt::format("the program {} is missing, it belongs beside lathe", name),
              path.string());
}

}  // namespace lathe::cli
