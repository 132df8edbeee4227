#include "ops/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/abridged.h"
#include "base/json.h"
#include "base/read_file.h"
#include "ops/all.h"

namespace lathe {
namespace {

using nlohmann::json;

Result<std::string> text_of(const json& entry, const char* key, const std::string& where) {
  const auto found = entry.find(key);
  if (found == entry.end()) {
    return fail(ErrorKind::invalid_argument, fmt::format("the entry has no '{}'", key), where);
  }
  if (!found->is_string())
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no string", key), where);
  return found->get<std::string>();
}

// Longer ones are an accident, and a --filter searches them by a function that calls itself for each letter.
constexpr size_t kLongestName = 1000;

// A workload's artifact is a folder of its name, beside those of the others.
Status check_name(const std::string& name, const std::string& where) {
  // They would begin a line or move the cursor wherever the name is printed.
  if (std::ranges::any_of(name, [](unsigned char c) { return std::iscntrl(c) != 0; })) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("'name' must have no control characters, such as the end of a line: {}",
                            json(abridged(name)).dump()),
                where);
  }
  const bool is_file_name =
      !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
  if (name.size() > kLongestName) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("'name' has {} bytes, and at most {} are allowed: it begins with '{}'",
                            name.size(), kLongestName, abridged(name)),
                where);
  }
  if (is_file_name) return {};
  return fail(ErrorKind::invalid_argument,
              fmt::format("'name' must be the name of a folder, without '/', not '{}'", name), where);
}

Result<Workload> parse_entry(const json& entry, size_t number, const std::string& source) {
  std::string where = fmt::format("{}: entry {}", source, number);
  if (!entry.is_object()) return fail(ErrorKind::invalid_argument, "the entry is no object", where);
  Workload workload;
  LATHE_TRY(workload.name, text_of(entry, "name", where));
  LATHE_TRY_STATUS(check_name(workload.name, where));
  where = fmt::format("{}: entry '{}'", source, workload.name);
  LATHE_TRY(workload.op, text_of(entry, "op", where));
  Result<Operator> operation = make_operator(workload.op, entry);
  if (!operation) {
    Error& error = operation.error();
    error.where = error.where.empty() ? where : where + ": " + error.where;
    return std::unexpected(std::move(error));
  }
  workload.operation = std::move(*operation);
  workload.entry = entry.dump();
  return workload;
}

}  // namespace

Result<std::vector<Workload>> parse_workloads(std::string_view text, const std::string& source) {
  LATHE_TRY(json entries, parse_json(text, source));
  if (entries.is_object()) entries = json::array({std::move(entries)});
  if (!entries.is_array()) {
    return fail(
        ErrorKind::parse,
        R"(workloads are a JSON list of objects, such as [{"name": "v", "op": "gemv", "m": 3, "k": 4}])",
        source);
  }
  if (entries.empty()) return fail(ErrorKind::invalid_argument, "the list of workloads is empty", source);
  std::vector<Workload> workloads;
  for (const json& entry : entries) {
    LATHE_TRY(Workload workload, parse_entry(entry, workloads.size() + 1, source));
    if (std::ranges::find(workloads, workload.name, &Workload::name) != workloads.end()) {
      return fail(ErrorKind::invalid_argument, fmt::format("two entries are named '{}'", workload.name),
                  source);
    }
    workloads.push_back(std::move(workload));
  }
  return workloads;
}

Result<std::vector<Workload>> load_workloads(const std::string& path) {
  LATHE_TRY(const std::string text, read_file(path));
  return parse_workloads(text, path);
}

Result<Task> make_task(const Workload& workload, const Target& target, bool free_layouts) {
  const Operator& operation = workload.operation;
  LATHE_TRY(Task task, make_task(workload.name, operation.dag, target, operation.constants, free_layouts));
  task.algorithm = operation.algorithm;
  return task;
}

}  // namespace lathe
