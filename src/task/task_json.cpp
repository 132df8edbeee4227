#include "task/task_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/hash.h"

namespace lathe {
namespace {

using nlohmann::json;

std::unexpected<Error> wrong(const char* key, const char* what) {
  return fail(ErrorKind::parse, fmt::format("member '{}' of the task is missing or no {}", key, what));
}

Status read(const json& object, const char* key, std::string& value) {
  if (!object.contains(key) || !object[key].is_string()) return wrong(key, "text");
  value = object[key].get<std::string>();
  return {};
}

Status read(const json& object, const char* key, bool& value) {
  if (!object.contains(key) || !object[key].is_boolean()) return wrong(key, "truth value");
  value = object[key].get<bool>();
  return {};
}

Status read(const json& object, const char* key, std::vector<std::string>& values) {
  if (!object.contains(key) || !object[key].is_array()) return wrong(key, "list");
  for (const json& value : object[key]) {
    if (!value.is_string()) return wrong(key, "list of texts");
    values.push_back(value.get<std::string>());
  }
  return {};
}

}  // namespace

nlohmann::ordered_json json_of(const TaskText& text) {
  return {{"hash", hash_to_string(text.hash)},
          {"name", text.name},
          {"dag", text.dag},
          {"constants", text.constants},
          {"free_layouts", text.free_layouts},
          {"layouts", text.layouts},
          {"runs_cold", text.runs_cold},
          {"algorithm", text.algorithm}};
}

Result<TaskText> task_text_from(const json& object) {
  if (!object.is_object()) return fail(ErrorKind::parse, "the task is no object");
  TaskText text;
  std::string hash;
  LATHE_TRY_STATUS(read(object, "hash", hash));
  const std::optional<uint64_t> number = hash_from_string(hash);
  if (!number) return wrong("hash", "text of sixteen digits");
  text.hash = *number;
  LATHE_TRY_STATUS(read(object, "name", text.name));
  LATHE_TRY_STATUS(read(object, "dag", text.dag));
  LATHE_TRY_STATUS(read(object, "constants", text.constants));
  LATHE_TRY_STATUS(read(object, "free_layouts", text.free_layouts));
  LATHE_TRY_STATUS(read(object, "layouts", text.layouts));
  LATHE_TRY_STATUS(read(object, "runs_cold", text.runs_cold));
  LATHE_TRY_STATUS(read(object, "algorithm", text.algorithm));
  return text;
}

}  // namespace lathe
