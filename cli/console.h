// What the command line prints. Nothing that cannot be printed ends a command before its work is done:
// stdout is answered for at the end, stderr by nobody.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/result.h"

namespace lathe::cli {

// Before anything is opened or printed.
void prepare_console();

void write_to_stdout(std::string_view text);
void write_to_stderr(std::string_view text);

template <class... Values>
void to_stdout(fmt::format_string<Values...> format, Values&&... values) {
  write_to_stdout(fmt::format(format, std::forward<Values>(values)...));
}

template <class... Values>
void to_stderr(fmt::format_string<Values...> format, Values&&... values) {
  write_to_stderr(fmt::format(format, std::forward<Values>(values)...));
}

// The last word: an Error where something written to stdout did not get there. Does not return where its
// reader has gone and SIGPIPE ends processes, as it would have at once.
Status finish_stdout();

}  // namespace lathe::cli
