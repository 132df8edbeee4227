// The cost model `ensemble`: several models, each fitted on a sample of the measurements drawn with
// repetition, whose mean and deviation are the prediction (AutoTVM, section 3.3, "uncertainty estimation":
// five models, regression).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/settings.h"
#include "cost/cost_model.h"
#include "cost/gbt.h"

namespace lathe {

struct EnsembleOptions {
  int size = 5;
  int seed = 0;
  // Of its members, which are `gbt`.
  std::string features = GbtOptions().features;
  int rounds = GbtOptions().rounds;
  int depth = GbtOptions().depth;
  double eta = GbtOptions().eta;
};
std::vector<Setting<EnsembleOptions>> ensemble_settings();

std::unique_ptr<CostModel> make_ensemble(const EnsembleOptions& options = {});
// Of any model: `make` gives a new, unfitted one.
std::unique_ptr<CostModel> make_ensemble_of(const std::function<std::unique_ptr<CostModel>()>& make, int size,
                                            uint64_t seed);

}  // namespace lathe
