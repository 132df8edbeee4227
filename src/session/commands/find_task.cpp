#include "session/commands/find_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

#include "base/hash.h"

namespace lathe {
namespace {

constexpr size_t kDigits = 16;
constexpr size_t kTasksNamed = 4;

bool is_start_of_task(const std::string& text) {
  return !text.empty() && text.size() <= kDigits &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

std::unexpected<Error> several(const std::string& digits, const std::map<uint64_t, std::string>& found) {
  std::vector<std::string> names;
  for (const auto& [hash, name] : found) {
    if (names.size() < kTasksNamed) names.push_back(fmt::format("{} ({})", hash_to_string(hash), name));
  }
  return fail(ErrorKind::invalid_argument,
              fmt::format("{} tasks begin with {}: {}{}", found.size(), digits, fmt::join(names, ", "),
                          found.size() > names.size() ? " .." : ""),
              "--task");
}

}  // namespace

Result<uint64_t> find_task(const RecordStore& store, const std::string& digits) {
  if (!is_start_of_task(digits)) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' is no task: it has {} hexadecimal digits, of which the first will do",
                            digits, kDigits),
                "--task");
  }
  std::string start = digits;
  for (char& c : start) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  LATHE_TRY(const std::vector<TaskText> tasks, store.task_texts());
  std::map<uint64_t, std::string> found;
  for (const TaskText& task : tasks) {
    if (hash_to_string(task.hash).starts_with(start)) found.emplace(task.hash, task.name);
  }
  if (found.size() > 1) return several(digits, found);
  if (!found.empty()) return found.begin()->first;
  return no_such_task(store, digits);
}

std::unexpected<Error> no_such_task(const RecordStore& store, const std::string& digits) {
  return fail(ErrorKind::not_found, fmt::format("{} has no records of task {}", store.path(), digits),
              "--task");
}

}  // namespace lathe
