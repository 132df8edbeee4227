// The one table of cost models by name. Each may be followed by what it lets a user set, as in
// "gbt:objective=regression" (base/settings.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cost/cost_model.h"

namespace lathe {

// The legal names, in the order in which help texts show them.
std::vector<std::string> cost_model_names();
// A new, unfitted model. An unknown name, or setting, is an error that lists the legal ones.
Result<std::unique_ptr<CostModel>> make_cost_model(std::string_view text);
// What CostModel::save gave, of any row that can be kept. An Error names `source` and what is wrong.
Result<std::unique_ptr<CostModel>> load_cost_model(std::string_view bytes, const std::string& source);

}  // namespace lathe
