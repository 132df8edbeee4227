#include "records/free_path.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace lathe {

Result<std::string> claim_free_path(const std::string& path) {
  std::string candidate = path;
  for (int number = 2;; ++number) {
    const int file = ::open(candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
      ::close(file);
      return candidate;
    }
    if (errno != EEXIST) return fail(ErrorKind::io, fmt::format("{}: {}", candidate, std::strerror(errno)));
    candidate = fmt::format("{}.{}", path, number);
  }
}

}  // namespace lathe
