// What the library itself needs around its errors as values (lathe/result.h); `LATHE_CHECK` (check.h) is for
// our own bugs.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lathe/result.h"

namespace lathe {

// The kind of that name; nothing where there is none.
std::optional<ErrorKind> parse_error_kind(std::string_view name);

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
