// The table of the operator library: an operator's name and its parameters as JSON give a Dag. A new operator
// is an entry of its family's list, or no C++ at all: "expression" takes any Dag in its printed form.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ops/operator.h"

namespace lathe {

// The operators that parameters can be given for, in the order of the table; "expression" comes last.
std::vector<std::string> operator_names();

// `parameters` is an object; its keys "name", "suite" and "op" are skipped. An Error names the key: unknown,
// missing, of the wrong type or out of range.
Result<Operator> make_operator(std::string_view op, const nlohmann::json& parameters);

}  // namespace lathe
