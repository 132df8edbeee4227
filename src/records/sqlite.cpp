#include "records/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <cstring>
#include <filesystem>

#include "base/check.h"
#include "base/file_type.h"

namespace lathe {
namespace {

constexpr int kBusyMilliseconds = 10'000;
constexpr int kRetryMilliseconds = 20;

// SQLite's URI form of a path, with the characters that would end it escaped. What two slashes lead in would
// be the name of a host, but for an empty one before it.
std::string uri_of(const std::string& path, const char* parameters) {
  std::string uri = path.starts_with('/') ? "file://" : "file:";
  for (char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned>(c));
    } else {
      uri += c;
    }
  }
  return uri + parameters;
}

bool is_refused_write(int extended_code) {
  return extended_code == SQLITE_IOERR_WRITE || extended_code == SQLITE_IOERR_FSYNC ||
         extended_code == SQLITE_IOERR_TRUNCATE || extended_code == SQLITE_IOERR_SHMSIZE;
}

// What the system said last to the log or the file itself, or to the help files: SQLite's own number knows of
// these, but of no commit. 0 where it said nothing.
int reason_of_system(sqlite3* handle) {
  int reason = 0;
  sqlite3_file* log = nullptr;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&log));
  const bool is_open = log != nullptr && log->pMethods != nullptr;
  if (is_open) log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &reason);
  if (reason == 0) sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &reason);
  return reason != 0 ? reason : sqlite3_system_errno(handle);
}

Error error_of(sqlite3* handle, int code, const std::string& path) {
  if (handle == nullptr) return sqlite_error(code, sqlite3_errstr(code), path);
  std::string detail = sqlite3_errmsg(handle);
  if (is_refused_write(sqlite3_extended_errcode(handle))) {
    const int reason = reason_of_system(handle);
    if (reason != 0) detail += fmt::format(" ({})", std::strerror(reason));
  }
  return sqlite_error(code, detail, path);
}

// To open a pipe would wait for a writer.
Status check_file_type(const std::string& path) {
  using std::filesystem::file_type;
  LATHE_TRY(const file_type type, file_type_of(path));
  if (type == file_type::regular || type == file_type::directory || type == file_type::not_found) return {};
  return fail(ErrorKind::database,
              fmt::format("{} is not a Lathe records file: it is a pipe or a device", path));
}

}  // namespace

Error damage_of_pages(std::string_view detail, const std::string& path) {
  return {ErrorKind::database,
          fmt::format("the records file {0} is damaged: {1}; `lathe records repair {0}` saves what can still "
                      "be read of it",
                      path, detail),
          {},
          {}};
}

Error sqlite_error(int code, std::string_view detail, const std::string& path) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return {ErrorKind::database,
              fmt::format("{} is not a Lathe records file: it is not an SQLite database", path),
              {},
              {}};
    case SQLITE_CORRUPT: return damage_of_pages(detail, path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorKind::database,
              fmt::format("the records file {} is locked: another program is writing to it and was not done "
                          "within {} seconds",
                          path, kBusyMilliseconds / 1000),
              {},
              {}};
    case SQLITE_FULL:
      return {ErrorKind::io,
              fmt::format("there is no space left to write the records file {}; what it held before is kept",
                          path),
              {},
              {}};
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return {
          ErrorKind::io, fmt::format("the records file {} cannot be written: it is read-only", path), {}, {}};
    case SQLITE_CANTOPEN:
      return {ErrorKind::io, fmt::format("the records file {} cannot be opened: {}", path, detail), {}, {}};
    case SQLITE_IOERR:
      return {ErrorKind::io,
              fmt::format("reading or writing the records file {} failed: {}", path, detail),
              {},
              {}};
    default:
      return {
          ErrorKind::database, fmt::format("SQLite refused the records file {}: {}", path, detail), {}, {}};
  }
}

Statement::Statement(sqlite3_stmt* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

void Statement::Finalize::operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }

Statement& Statement::bind(int64_t value) {
  LATHE_CHECK(sqlite3_bind_int64(handle_.get(), next_parameter_++, value) == SQLITE_OK);
  return *this;
}

Statement& Statement::bind(double value) {
  LATHE_CHECK(sqlite3_bind_double(handle_.get(), next_parameter_++, value) == SQLITE_OK);
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  LATHE_CHECK(sqlite3_bind_text64(handle_.get(), next_parameter_++, text.data(), text.size(),
                                  SQLITE_TRANSIENT, SQLITE_UTF8) == SQLITE_OK);
  return *this;
}

Statement& Statement::bind(std::optional<double> value) { return value ? bind(*value) : bind_null(); }

Statement& Statement::bind_null() {
  LATHE_CHECK(sqlite3_bind_null(handle_.get(), next_parameter_++) == SQLITE_OK);
  return *this;
}

Statement& Statement::bind_column(const Statement& row, int column) {
  LATHE_CHECK(sqlite3_bind_value(handle_.get(), next_parameter_++,
                                 sqlite3_column_value(row.handle_.get(), column)) == SQLITE_OK);
  return *this;
}

void Statement::reset() {
  // Its code is that of the last step, which has told it.
  static_cast<void>(sqlite3_reset(handle_.get()));
  next_parameter_ = 1;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return std::unexpected(error_of(sqlite3_db_handle(handle_.get()), code, path_));
}

Status Statement::run() {
  LATHE_TRY([[maybe_unused]] const bool no_row, step());
  return {};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}
bool Statement::is_integer(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_INTEGER;
}
bool Statement::is_number(int column) const {
  return is_integer(column) || sqlite3_column_type(handle_.get(), column) == SQLITE_FLOAT;
}
bool Statement::is_text(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_TEXT;
}
int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(handle_.get(), column); }

std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  return text ? std::string(text, sqlite3_column_bytes(handle_.get(), column)) : std::string();
}

void Connection::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Result<Connection> Connection::open(const std::string& path, bool writable, bool immutable) {
  LATHE_TRY_STATUS(check_file_type(path));
  sqlite3* handle = nullptr;
  const int access = immutable ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  const int flags = access | (writable ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_URI;
  const std::string uri = uri_of(path, immutable ? "?immutable=1" : "");
  const int code = sqlite3_open_v2(uri.c_str(), &handle, flags, nullptr);
  Connection connection(handle, path);
  if (code != SQLITE_OK) return std::unexpected(error_of(handle, code, path));
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  if (!writable) LATHE_TRY_STATUS(connection.execute("PRAGMA query_only = ON"));
  return connection;
}

void Connection::set_merges_log(bool merges) {
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, merges ? 0 : 1, nullptr);
}

Status Connection::execute(const char* sql) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(kBusyMilliseconds);
  for (;;) {
    const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return {};
    // SQLite waits by itself, but not for a change of the journal mode.
    if ((code & 0xff) != SQLITE_BUSY || Clock::now() >= deadline) {
      return std::unexpected(error_of(handle_.get(), code, path_));
    }
    sqlite3_sleep(kRetryMilliseconds);
  }
}

Result<Statement> Connection::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return std::unexpected(error_of(handle_.get(), code, path_));
  return Statement(statement, path_);
}

Result<int64_t> Connection::integer(std::string_view sql) const {
  LATHE_TRY(Statement statement, prepare(sql));
  LATHE_TRY(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

int64_t Connection::last_row_id() const { return sqlite3_last_insert_rowid(handle_.get()); }
int64_t Connection::changes() const { return sqlite3_changes64(handle_.get()); }
bool Connection::has_met_damage() const { return (sqlite3_errcode(handle_.get()) & 0xff) == SQLITE_CORRUPT; }

bool Connection::read_only() const { return sqlite3_db_readonly(handle_.get(), "main") == 1; }

bool Connection::has_moved() const {
  int moved = 0;
  // A database in memory has no file to ask about, and has not moved.
  sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved != 0;
}

Status Connection::copy_to(const std::string& path) const {
  LATHE_TRY(Statement statement, prepare("VACUUM INTO ?"));
  statement.bind(path);
  LATHE_TRY([[maybe_unused]] const bool no_row, statement.step());
  return {};
}

}  // namespace lathe
