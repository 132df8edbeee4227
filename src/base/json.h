// JSON that anyone may have written.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lathe {

// Lists and objects in one another; more than any file of ours has. What is read is copied and printed by
// functions that call themselves for each level.
constexpr int kDeepestJson = 64;

// A parse error that names `source`, with line and column where the text is none, where it is nested deeper
// than kDeepestJson, where an object has a key twice, or where it holds a number that no double does.
Result<nlohmann::json> parse_json(std::string_view text, const std::string& source);

}  // namespace lathe
