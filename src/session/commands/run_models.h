// The cost models of an experiment's runs, which may have learned from tables before (LearnedBefore).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cost/cost_model.h"
#include "experiment/experiment.h"
#include "session/commands/search_parts.h"

namespace lathe {

class RunModels {
 public:
  // `folder` has the tables; `parts` outlive the models.
  RunModels(std::string folder, const SearchParts& parts) : folder_(std::move(folder)), parts_(parts) {}

  // A new one. What was learned before is learned once for all. An Error names the run or the table.
  Result<std::unique_ptr<CostModel>> make(const ExperimentRun& run);
  // All that decides what such a model predicts.
  static std::string text_of(const ExperimentRun& run);

 private:
  Result<std::shared_ptr<const CostModel>> global_model(const LearnedBefore& learned);

  std::string folder_;
  const SearchParts& parts_;
  std::vector<std::pair<LearnedBefore, std::shared_ptr<const CostModel>>> global_ = {};
};

}  // namespace lathe
