// Errors as values: `Result<T>` carries either a value or an `Error` whose message is one clear sentence.
// Everything that a user's input can cause travels this way.
#pragma once

#include <expected>
#include <string>
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

}  // namespace lathe
