// Domains as JSON, as files keep them. One object a parameter: its name, and
//   {"values": [..]}   ordered            {"categories": n}
//   {"split": extent, "parts": n, "imperfect": true|false, "largest_innermost": n, "allowed": [..]}
//   {"items": [..]}    a permutation
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "domain/domain.h"

namespace lathe {

nlohmann::ordered_json json_of(const Domain& domain);
// Back; an Error says what is wrong with which parameter.
Result<Domain> domain_from(const nlohmann::json& parameters);

}  // namespace lathe
