#include "records/write_aside.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "records/free_path.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

// Has a new file of that name written, and gives its path; where that fails, leaves none.
Result<std::string> write_new(const std::string& file,
                              const std::function<Status(const std::string&)>& write) {
  LATHE_TRY(std::string place, claim_free_path(file));
  const Status written = write(place);
  if (written) return place;
  std::error_code ignored;
  for (const char* part : {"", "-wal", "-shm"}) fs::remove(place + part, ignored);
  return fail(ErrorKind::io, fmt::format("{}: {}", place, written.error().message));
}

}  // namespace

Result<std::string> write_aside(const std::string& file,
                                const std::function<Status(const std::string&)>& write) {
  const Result<std::string> beside = write_new(file + ".saved", write);
  if (beside) return beside;
  const Result<std::string> elsewhere =
      write_new(fs::path("/tmp") / fs::path(file + ".saved").filename(), write);
  return elsewhere ? elsewhere : beside;
}

}  // namespace lathe
