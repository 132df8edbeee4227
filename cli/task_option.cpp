#include "cli/task_option.h"

#include <fmt/format.h>

#include <charconv>

namespace lathe::cli {

Result<uint64_t> parse_task(const std::string& text) {
  uint64_t hash = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (code == std::errc() && end == text.data() + text.size()) return hash;
  return fail(ErrorKind::invalid_argument,
              fmt::format("'{}' is no task, which has up to 16 hexadecimal digits", text), "--task");
}

std::unexpected<Error> no_such_task(const std::string& file, const std::string& task) {
  return fail(ErrorKind::not_found, fmt::format("{} has no records of task {}", file, task), "--task");
}

}  // namespace lathe::cli
