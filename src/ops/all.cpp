#include "ops/all.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/abridged.h"
#include "expr/parse.h"
#include "ops/capsule.h"
#include "ops/conv.h"
#include "ops/conv_transpose.h"
#include "ops/matmul.h"
#include "ops/softmax.h"
#include "ops/special.h"
#include "task/task.h"

namespace lathe {
namespace {

using nlohmann::json;

constexpr int64_t kMaxParameter = (int64_t{1} << 31) - 1;
constexpr std::string_view kExpression = "expression";

std::unexpected<Error> invalid(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

std::vector<OperatorEntry> operator_table() {
  std::vector<OperatorEntry> table;
  for (const auto& family : {matmul_operators(), conv_operators(), conv_transpose_operators(),
                             capsule_operators(), softmax_operators(), special_operators()}) {
    table.insert(table.end(), family.begin(), family.end());
  }
  return table;
}

Status check_keys(std::string_view op, const json& parameters, const std::vector<std::string_view>& known) {
  for (const auto& [key, value] : parameters.items()) {
    if (key == "name" || key == "suite" || key == "op") continue;
    if (std::ranges::find(known, key) != known.end()) continue;
    return invalid(
        fmt::format("{} has no parameter '{}'; its parameters are {}", op, key, fmt::join(known, ", ")));
  }
  return {};
}

Result<int64_t> read_parameter(std::string_view op, const json& parameters,
                               const OperatorParameter& parameter) {
  const auto found = parameters.find(parameter.name);
  if (found == parameters.end()) {
    if (parameter.fallback) return *parameter.fallback;
    return invalid(fmt::format("{} needs the parameter '{}'", op, parameter.name));
  }
  const bool in_range = found->is_number_integer() &&
                        !(found->is_number_unsigned() && found->get<uint64_t>() > uint64_t{kMaxParameter}) &&
                        found->get<int64_t>() >= parameter.least;
  if (in_range) return found->get<int64_t>();
  return invalid(fmt::format("'{}' of {} is an integer from {} to {}, not {}", parameter.name, op,
                             parameter.least, kMaxParameter,
                             abridged(found->dump(-1, ' ', false, json::error_handler_t::replace))));
}

Result<Operator> make_from_entry(const OperatorEntry& entry, const json& parameters) {
  std::vector<std::string_view> known;
  for (const OperatorParameter& parameter : entry.parameters) known.push_back(parameter.name);
  LATHE_TRY_STATUS(check_keys(entry.name, parameters, known));
  Parameters values;
  for (const OperatorParameter& parameter : entry.parameters) {
    LATHE_TRY(const int64_t value, read_parameter(entry.name, parameters, parameter));
    values.set(parameter.name, value);
  }
  return entry.make(values);
}

Result<Operator> make_expression(const json& parameters) {
  LATHE_TRY_STATUS(check_keys(kExpression, parameters, {"text", "constants"}));
  const auto text = parameters.find("text");
  if (text == parameters.end()) return invalid("expression needs the parameter 'text'");
  if (!text->is_string()) return invalid("'text' of expression is a string");
  LATHE_TRY(Dag dag, parse_dag(text->get<std::string>(), "text"));
  Operator result{std::move(dag), {}, 0, {}};
  result.flops = flops_of(result.dag);
  const json constants = parameters.value("constants", json::array());
  if (!constants.is_array()) return invalid("'constants' of expression is a list of inputs' names");
  for (const json& constant : constants) {
    if (!constant.is_string()) return invalid("'constants' of expression is a list of inputs' names");
    const auto name = constant.get<std::string>();
    const auto is_it = [&](const Tensor& input) { return input->name == name; };
    if (std::ranges::none_of(result.dag.inputs, is_it)) {
      return invalid(fmt::format("constant '{}' is no input of the expression", name));
    }
    result.constants.push_back(name);
  }
  return result;
}

}  // namespace

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const OperatorEntry& entry : operator_table()) names.emplace_back(entry.name);
  names.emplace_back(kExpression);
  return names;
}

Result<Operator> make_operator(std::string_view op, const json& parameters) {
  if (!parameters.is_object()) return invalid(fmt::format("the parameters of {} are no object", op));
  if (op == kExpression) return make_expression(parameters);
  const std::vector<OperatorEntry> table = operator_table();
  const auto entry = std::ranges::find(table, op, &OperatorEntry::name);
  if (entry == table.end()) {
    return fail(ErrorKind::not_found, fmt::format("there is no operator '{}'; there are {}", op,
                                                  fmt::join(operator_names(), ", ")));
  }
  return make_from_entry(*entry, parameters);
}

}  // namespace lathe
