#include "records/recorded_point.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"

namespace lathe {
namespace {

using nlohmann::json;

// A choice of one integer is a number, any other a list.
json json_of(const Choices& choices) {
  json object = json::object();
  for (const auto& [name, values] : choices) {
    if (values.size() == 1) {
      object[name] = values.front();
    } else {
      object[name] = values;
    }
  }
  return object;
}

Choices choices_from(const json& object) {
  Choices choices;
  for (const auto& [name, value] : object.get_ref<const json::object_t&>()) {
    choices[name] = value.is_array() ? value.get<std::vector<int64_t>>()
                                     : std::vector<int64_t>{value.get_ref<const json::number_integer_t&>()};
  }
  return choices;
}

}  // namespace

std::string print(const RecordedPoint& point) {
  json object = {{"sketch", point.sketch}};
  if (point.integers.empty()) {
    object["space"] = point.space;
    object["choices"] = json_of(point.choices);
  } else {
    object["integers"] = point.integers;
  }
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<RecordedPoint> parse_point(std::string_view text) {
  LATHE_TRY(const json object, parse_json(text, "point"));
  try {
    RecordedPoint point{.space = "lathe", .sketch = object.at("sketch").get<std::string>()};
    if (object.contains("integers")) {
      point.integers = object["integers"].get<std::vector<int64_t>>();
      return point;
    }
    point.space = object.at("space").get<std::string>();
    point.choices = choices_from(object.at("choices"));
    return point;
  } catch (const json::exception& wrong) {
    return fail(ErrorKind::parse, wrong.what(), "point");
  }
}

std::optional<std::vector<int64_t>> integers_in(const Domain& domain, const RecordedPoint& point,
                                                const std::vector<int64_t>& preferred) {
  if (point.integers.empty()) return integers_of(domain, point.choices, preferred);
  if (!check(domain, point.integers)) return std::nullopt;
  return point.integers;
}

}  // namespace lathe
