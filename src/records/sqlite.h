// SQLite behind Result: connections and statements that close themselves, and one clear sentence for each way
// in which the library fails. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace lathe {

// The Error for an SQLite result code; `detail` is SQLite's own words.
Error sqlite_error(int code, std::string_view detail, const std::string& path);

// The Error for a file that SQLite, or who looks after it, finds damaged in itself.
Error damage_of_pages(std::string_view detail, const std::string& path);

// A prepared statement. Parameters are bound in order, columns are read by number. Must not outlive its
// connection.
class Statement {
 public:
  Statement(sqlite3_stmt* handle, std::string path);

  Statement& bind(int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view text);
  Statement& bind(std::optional<double> value);  // none: NULL
  Statement& bind_null();
  // What the column of another statement's row holds, whatever its type.
  Statement& bind_column(const Statement& row, int column);
  // Ready for other parameters and to run once more.
  void reset();

  // True if a row came, false at the end.
  Result<bool> step();
  // Of one that gives no rows.
  Status run();

  bool is_null(int column) const;
  bool is_integer(int column) const;
  // Whether it is one or a real number.
  bool is_number(int column) const;
  bool is_text(int column) const;
  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  std::string path_;
  int next_parameter_ = 1;
};

class Connection {
 public:
  // Opens the file; creates it if it is missing and `writable`. One that is not writable takes no statement
  // that writes, but where it closes last it merges the log and removes it, as a writer does. `immutable`
  // reads a file that nobody writes, without the help files that SQLite keeps beside it. Waits up to ten
  // seconds for other writers.
  static Result<Connection> open(const std::string& path, bool writable, bool immutable = false);
  // Whether closing merges and removes the log; it does until told otherwise.
  void set_merges_log(bool merges);

  // Runs statements that give no rows, waiting for other processes.
  Status execute(const char* sql);
  Result<Statement> prepare(std::string_view sql) const;
  // The only value of the only row.
  Result<int64_t> integer(std::string_view sql) const;
  int64_t last_row_id() const;
  // How many rows the last statement that wrote has written.
  int64_t changes() const;
  // Whether the last statement that failed met damaged pages.
  bool has_met_damage() const;
  // Whether the file turned out not to be writable.
  bool read_only() const;
  // Whether the path leads to another file by now, or to none: what is written then goes with the connection.
  bool has_moved() const;
  // Writes all that the database holds to a file that does not exist yet or is empty.
  Status copy_to(const std::string& path) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  Connection(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
};

}  // namespace lathe
