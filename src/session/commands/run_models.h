// The cost models of an experiment's runs, which may have learned from tables before (LearnedBefore).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cost/cost_model.h"
#include "experiment/experiment.h"

namespace lathe {

class RunModels {
 public:
  // `folder` has the tables.
  explicit RunModels(std::string folder) : folder_(std::move(folder)) {}

  // A new one. What was learned before is learned once for all. An Error names the run or the table.
  Result<std::unique_ptr<CostModel>> make(const ExperimentRun& run);
  // All that decides what such a model predicts.
  static std::string text_of(const ExperimentRun& run);

 private:
  Result<std::shared_ptr<const CostModel>> global_model(const LearnedBefore& learned);

  std::string folder_;
  std::vector<std::pair<LearnedBefore, std::shared_ptr<const CostModel>>> global_ = {};
};

}  // namespace lathe
