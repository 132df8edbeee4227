#include "domain/domain_json.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/overloaded.h"

namespace lathe {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kMostParts = 16;
constexpr int64_t kLargestExtent = int64_t{1} << 31;  // whose splits are counted in no time
constexpr size_t kMostItems = 64;

ordered_json json_of(const Parameter& parameter) {
  ordered_json object{{"name", parameter.name}};
  std::visit(Overloaded{[&](const OrderedParameter& ordered) { object["values"] = ordered.values; },
                        [&](const CategoricalParameter& category) { object["categories"] = category.count; },
                        [&](const PermutationParameter& order) { object["items"] = order.items; },
                        [&](const SplitParameter& split) {
                          object["split"] = split.extent;
                          object["parts"] = split.parts;
                          object["imperfect"] = split.imperfect;
                          object["largest_innermost"] = split.largest_innermost;
                          if (!split.allowed.empty()) object["allowed"] = split.allowed;
                        }},
             parameter.kind);
  return object;
}

// Whole numbers, increasing, from `least` on.
std::optional<std::vector<int64_t>> increasing(const json& list, int64_t least) {
  if (!list.is_array() || list.empty()) return std::nullopt;
  std::vector<int64_t> values;
  for (const json& each : list) {
    if (!each.is_number_integer()) return std::nullopt;
    values.push_back(each.get<int64_t>());
    if (values.back() < least || (values.size() > 1 && values.back() <= values[values.size() - 2]))
      return std::nullopt;
  }
  return values;
}

std::optional<int64_t> positive(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  const auto value = found->get<int64_t>();
  return value >= 1 ? std::optional(value) : std::nullopt;
}

std::optional<SplitParameter> split_from(const json& object) {
  const auto extent = positive(object, "split");
  const auto parts = positive(object, "parts");
  const auto innermost = positive(object, "largest_innermost");
  const auto imperfect = object.find("imperfect");
  if (!extent || !parts || !innermost || *parts > kMostParts || *extent > kLargestExtent) return std::nullopt;
  if (imperfect == object.end() || !imperfect->is_boolean()) return std::nullopt;
  SplitParameter split{*extent, static_cast<int>(*parts), imperfect->get<bool>(), *innermost};
  if (const auto allowed = object.find("allowed"); allowed != object.end()) {
    const auto factors = increasing(*allowed, 1);
    if (!factors || factors->front() != 1) return std::nullopt;
    split.allowed = *factors;
  }
  return split;
}

std::optional<PermutationParameter> order_from(const json& list) {
  if (!list.is_array() || list.empty() || list.size() > kMostItems) return std::nullopt;
  PermutationParameter order;
  std::set<std::string> known;
  for (const json& item : list) {
    if (!item.is_string() || !known.insert(item.get<std::string>()).second) return std::nullopt;
    order.items.push_back(item.get<std::string>());
  }
  return order;
}

Result<Parameter> parameter_from(const json& object) {
  if (!object.is_object() || !object.contains("name") || !object["name"].is_string())
    return fail(ErrorKind::parse, "a parameter must be an object with a name");
  Parameter parameter{object["name"].get<std::string>(), CategoricalParameter{}};
  const auto wrong = [&](const char* what) {
    return fail(ErrorKind::parse, fmt::format("parameter '{}': {}", parameter.name, what));
  };
  if (object.contains("values")) {
    auto values = increasing(object["values"], std::numeric_limits<int64_t>::min());
    if (!values) return wrong("its values must be whole numbers, increasing");
    parameter.kind = OrderedParameter{std::move(*values)};
  } else if (object.contains("categories")) {
    const auto count = positive(object, "categories");
    if (!count) return wrong("its categories must be a whole number from 1 on");
    parameter.kind = CategoricalParameter{*count};
  } else if (object.contains("split")) {
    const auto split = split_from(object);
    if (!split) return wrong("its split is not one that this version knows");
    parameter.kind = *split;
  } else if (object.contains("items")) {
    auto order = order_from(object["items"]);
    if (!order) return wrong("its items must be a list of different names");
    parameter.kind = std::move(*order);
  } else {
    return wrong("it has no values, categories, split or items");
  }
  return parameter;
}

}  // namespace

ordered_json json_of(const Domain& domain) {
  ordered_json list = ordered_json::array();
  for (const Parameter& parameter : domain.parameters) list.push_back(json_of(parameter));
  return list;
}

Result<Domain> domain_from(const json& parameters) {
  if (!parameters.is_array()) return fail(ErrorKind::parse, "a domain must be a list of parameters");
  Domain domain;
  std::set<std::string> names;
  for (const json& object : parameters) {
    LATHE_TRY(Parameter parameter, parameter_from(object));
    if (!names.insert(parameter.name).second)
      return fail(ErrorKind::parse, fmt::format("parameter '{}' is there twice", parameter.name));
    domain.parameters.push_back(std::move(parameter));
  }
  return domain;
}

}  // namespace lathe
