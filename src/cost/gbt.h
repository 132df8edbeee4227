// The cost models `gbt` (rank objective, AutoTVM's formula (2)) and `gbt-regression` (squared loss on
// throughput relative to the best of the task): gradient-boosted trees on plain rows.
#pragma once

#include <memory>

#include "cost/cost_model.h"

namespace lathe {

std::unique_ptr<CostModel> make_gbt();
std::unique_ptr<CostModel> make_gbt_regression();

}  // namespace lathe
