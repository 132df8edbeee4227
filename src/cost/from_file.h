// Cost models that begin with what an earlier fit has learned: `saved` predicts as that does and learns
// nothing, `transfer` learns what is to be added to it (cost/transfer.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/settings.h"
#include "cost/cost_model.h"
#include "cost/transfer.h"

namespace lathe {

struct FromFileOptions {
  std::string model = "";  // a file that CostModel::save gave
  double half_life = TransferOptions().half_life;
  double least_weight = TransferOptions().least_weight;
};
std::vector<Setting<FromFileOptions>> saved_settings();
std::vector<Setting<FromFileOptions>> transfer_settings();

// An Error where no file is named, or it holds no model.
Result<std::unique_ptr<CostModel>> make_saved(const FromFileOptions& options);
// The model beside it is `gbt` on the same features.
Result<std::unique_ptr<CostModel>> make_transfer_from(const FromFileOptions& options);

}  // namespace lathe
