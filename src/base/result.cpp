#include "base/result.h"

namespace lathe {

const char* to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument: return "invalid_argument";
    case ErrorKind::parse: return "parse";
    case ErrorKind::not_found: return "not_found";
    case ErrorKind::unsupported: return "unsupported";
    case ErrorKind::illegal_schedule: return "illegal_schedule";
    case ErrorKind::invalid_program: return "invalid_program";
    case ErrorKind::build: return "build";
    case ErrorKind::load: return "load";
    case ErrorKind::timeout: return "timeout";
    case ErrorKind::crash: return "crash";
    case ErrorKind::wrong_result: return "wrong_result";
    case ErrorKind::io: return "io";
    case ErrorKind::database: return "database";
  }
  return "unknown";
}

std::optional<ErrorKind> parse_error_kind(std::string_view name) {
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::database); ++kind) {
    if (name == to_string(static_cast<ErrorKind>(kind))) return static_cast<ErrorKind>(kind);
  }
  return std::nullopt;
}

std::string Error::to_string() const {
  std::string text = where.empty() ? message : where + ": " + message;
  for (const std::string& note : notes) text += "\n  " + note;
  return text;
}

}  // namespace lathe
