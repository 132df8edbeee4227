// Errors as values: `Result<T>` carries either a value or an `Error` whose message is one clear sentence.
// Everything that a user's input can cause travels this way; `LATHE_CHECK` (check.h) is for our own bugs.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lathe {

// What went wrong, coarse enough to act on. Every kind has a golden test of at least one of its sentences.
enum class ErrorKind {
  invalid_argument,  // a value that an interface does not accept
  parse,             // text that does not follow its grammar
  not_found,         // a file, block, loop, task or record that does not exist
  unsupported,       // well-formed input that Lathe does not handle
  illegal_schedule,  // a schedule step whose conditions do not hold
  invalid_program,   // a loop program that breaks an invariant
  build,             // code generation or linking failed
  load,              // machine code could not be loaded
  timeout,           // a candidate or process ran longer than allowed
  crash,             // a candidate ended its process
  wrong_result,      // a candidate computed something else than the reference
  io,                // the file system or the operating system refused
  database,          // a records file is damaged, locked or not one of ours
};

// The error kind's name as printed in records and messages, e.g. "illegal_schedule".
const char* to_string(ErrorKind kind);
// The kind of that name; nothing where there is none.
std::optional<ErrorKind> parse_error_kind(std::string_view name);

struct Error {
  ErrorKind kind = ErrorKind::invalid_argument;
  std::string message;             // one sentence, no trailing full stop, names what and what would be legal
  std::string where;               // file:line:column, node, loop path or option; may be empty
  std::vector<std::string> notes;  // further lines, innermost first

  // "where: message", then the notes, one a line.
  std::string to_string() const;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

// Builds the error side of a Result.
inline std::unexpected<Error> fail(ErrorKind kind, std::string message, std::string where = {}) {
  return std::unexpected(Error{kind, std::move(message), std::move(where), {}});
}

}  // namespace lathe

#define LATHE_CONCAT_IMPL(a, b) a##b
#define LATHE_CONCAT(a, b) LATHE_CONCAT_IMPL(a, b)

// LATHE_TRY(auto value, expression): unwraps a Result or returns its error from the enclosing function.
#define LATHE_TRY(declaration, ...) \
  LATHE_TRY_IMPL(LATHE_CONCAT(lathe_result_, __LINE__), declaration, __VA_ARGS__)
#define LATHE_TRY_IMPL(result, declaration, ...)                              \
  auto result = (__VA_ARGS__);                                                \
  if (!result.has_value()) return std::unexpected(std::move(result.error())); \
  declaration = std::move(*result)

// LATHE_TRY_STATUS(expression): the same for a Status.
#define LATHE_TRY_STATUS(...)                                                               \
  do {                                                                                      \
    auto lathe_status = (__VA_ARGS__);                                                      \
    if (!lathe_status.has_value()) return std::unexpected(std::move(lathe_status.error())); \
  } while (false)
