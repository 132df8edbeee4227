// The one table of cost models by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cost/cost_model.h"

namespace lathe {

// The legal names, in the order in which help texts show them.
std::vector<std::string> cost_model_names();
// A new, unfitted model. An unknown name is an error that lists the legal ones.
Result<std::unique_ptr<CostModel>> make_cost_model(std::string_view name);

}  // namespace lathe
