#include "records/connect.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/file_type.h"
#include "records/schema.h"

namespace lathe {

namespace fs = std::filesystem;

namespace {

fs::path directory_of(const std::string& path) {
  std::error_code ignored;
  return fs::absolute(path, ignored).parent_path();
}

}  // namespace

Status check_place(const std::string& path) {
  LATHE_TRY(const fs::file_type type, file_type_of(path));
  if (type == fs::file_type::directory) {
    return fail(ErrorKind::io, fmt::format("{} is a directory, not a records file", path));
  }
  const fs::path parent = directory_of(path);
  std::error_code ignored;
  if (fs::is_directory(parent, ignored)) return {};
  const std::string why = fs::exists(parent, ignored)
                              ? fmt::format("{} is not a directory", parent.string())
                              : fmt::format("the directory {} does not exist", parent.string());
  return fail(ErrorKind::io, fmt::format("the records file {} cannot be made: {}", path, why));
}

std::unexpected<Error> read_only(const std::string& path) {
  return fail(ErrorKind::io, fmt::format("the records file {} cannot be written: it is read-only", path));
}

Status check_writable(const std::string& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored) && access(path.c_str(), W_OK) != 0) return read_only(path);
  const std::string found = directory_of(fs::weakly_canonical(path, ignored)).string();
  // Nothing leads to a current directory that was removed.
  const std::string parent = found.empty() ? "." : found;
  if (access(parent.c_str(), W_OK | X_OK) == 0) return {};
  return fail(
      ErrorKind::io,
      fmt::format("the records file {} cannot be written: no file can be made in the directory {}: {}", path,
                  parent, std::strerror(errno)));
}

bool has_log(const std::string& path) {
  std::error_code ignored;
  const std::string log = fs::weakly_canonical(path, ignored).string() + "-wal";
  const auto holds_something = [&](const std::string& file) {
    return fs::exists(file, ignored) && fs::file_size(file, ignored) > 0;
  };
  return holds_something(log) && holds_something(path);
}

Status check_no_orphan(const std::string& path) {
  std::error_code ignored;
  const std::string file = fs::weakly_canonical(path, ignored).string();
  const std::string log = file + "-wal";
  const bool has_file = fs::exists(file, ignored) && fs::file_size(file, ignored) > 0;
  if (has_file || !fs::exists(log, ignored) || fs::file_size(log, ignored) == 0) return {};
  return fail(
      ErrorKind::io,
      fmt::format("the records file {} is gone, but its log {}, which holds what was measured last, is "
                  "there: move the file back beside it, or remove the log",
                  path, log));
}

Result<Connection> connect_to_read(const std::string& path) {
  const bool unmerged = has_log(path);
  LATHE_TRY(Connection alone, Connection::open(path, false, true));
  if (!unmerged && !verify_schema(alone, path, false)) return alone;
  LATHE_TRY(Connection shared, Connection::open(path, false));
  // Where the file or its directory cannot be written SQLite's help files cannot be made or would stay;
  // without a log the file is complete and can be read by itself.
  if (!unmerged && shared.read_only()) return alone;
  if (unmerged) shared.set_merges_log(false);
  Status verified = verify_schema(shared, path, false);
  if (!verified && verified.error().kind == ErrorKind::io && !unmerged) return alone;
  LATHE_TRY_STATUS(std::move(verified));
  shared.set_merges_log(true);
  return shared;
}

// A log, or a journal of a write that was not finished, makes the file what it is; without one SQLite's help
// files would be made, and stay where it cannot merge them.
Result<Connection> connect_to_salvage(const std::string& path) {
  std::error_code ignored;
  const bool is_alone = !has_log(path) && !fs::exists(path + "-journal", ignored);
  LATHE_TRY(Connection connection, Connection::open(path, false, is_alone));
  connection.set_merges_log(false);
  LATHE_TRY_STATUS(connection.execute("PRAGMA writable_schema = ON"));
  return connection;
}

}  // namespace lathe
