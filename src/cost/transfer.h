// Transfer between tasks (AutoTVM, section 4, formula (4)): a global model, learned from records of other
// tasks, and a local one that learns from this task what is to be added to it.
#pragma once

#include <memory>

#include "cost/cost_model.h"

namespace lathe {

struct TransferOptions {
  // How much the global model says where the local one has learned from n candidates: 2^(-n / half_life),
  // nothing any more below `least_weight`, as the authors' public code has it. 0: always as much, as in the
  // formula.
  double half_life = 64;
  double least_weight = 0.05;
};

// The global model's weight beside a local one that learned from so many candidates.
double transfer_weight(int64_t candidates, const TransferOptions& options);

// `global` is fitted, and never fitted again; it may serve several tasks at once. `local` is not; it wants
// the same features. Before the first fit the global model predicts alone.
std::unique_ptr<CostModel> make_transfer(std::shared_ptr<const CostModel> global,
                                         std::unique_ptr<CostModel> local,
                                         const TransferOptions& options = {});

}  // namespace lathe
