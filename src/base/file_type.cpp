#include "base/file_type.h"

#include <fmt/format.h>

namespace lathe {

Result<std::filesystem::file_type> file_type_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::status_known(status)) return status.type();
  return fail(ErrorKind::io, fmt::format("this cannot be read: {}", error.message()), path);
}

}  // namespace lathe
