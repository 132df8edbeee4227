// The cost model `none`: never fitted, so that a search goes without predictions.
#pragma once

#include <memory>

#include "cost/cost_model.h"

namespace lathe {

std::unique_ptr<CostModel> make_no_cost_model();

}  // namespace lathe
