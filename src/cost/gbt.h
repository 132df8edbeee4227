// The cost model `gbt`: gradient-boosted trees (AutoTVM, section 3.2; Ansor's too). `gbt-regression` is the
// same with another objective.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/settings.h"
#include "cost/boosting.h"
#include "cost/cost_model.h"
#include "cost/saved_model.h"

namespace lathe {

struct GbtOptions {
  std::string objective = "rank";    // cost/objective.h
  std::string features = "summary";  // cost/feature_set.h
  int rounds = BoostingOptions().rounds;
  int depth = BoostingOptions().depth;
  double eta = BoostingOptions().eta;
  double gamma = BoostingOptions().gamma;
  double child_weight = 0;  // 0: what goes with the objective's second derivatives
  double lambda = BoostingOptions().lambda;
};
std::vector<Setting<GbtOptions>> gbt_settings();

std::unique_ptr<CostModel> make_gbt(const GbtOptions& options = {});
// What `save` gave; it predicts, and may be fitted anew with the defaults. An Error names `source`.
Result<std::unique_ptr<CostModel>> load_gbt(const SavedModel& saved, const std::string& source);

}  // namespace lathe
