#include "tune/select_workloads.h"

#include <fmt/format.h>

#include <regex>

namespace lathe {
namespace {

// The library compiles an expression by functions that call themselves, as deep as it is long.
constexpr size_t kLongestFilter = 1000;

}  // namespace

Result<std::vector<Workload>> select_workloads(const std::string& path, const std::string& filter) {
  LATHE_TRY(std::vector<Workload> workloads, load_workloads(path));
  if (filter.empty()) return workloads;
  if (filter.size() > kLongestFilter) {
    return fail(
        ErrorKind::invalid_argument,
        fmt::format("the expression has {} bytes, and at most {} are allowed", filter.size(), kLongestFilter),
        "--filter");
  }
  try {
    const std::regex expression(filter, std::regex::ECMAScript);
    std::erase_if(workloads, [&](const Workload& w) { return !std::regex_search(w.name, expression); });
  } catch (const std::regex_error&) {
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no regular expression", filter),
                "--filter");
  }
  if (workloads.empty()) {
    return fail(ErrorKind::not_found,
                fmt::format("no entry of {} has a name that matches '{}'", path, filter), "--filter");
  }
  return workloads;
}

}  // namespace lathe
