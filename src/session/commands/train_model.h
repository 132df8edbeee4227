// The commands `model fit` and `model judge`: a cost model learned from records files and kept in a file, for
// `--cost-model transfer:model=FILE` and `saved:model=FILE`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/teller.h"
#include "tune/training_set.h"

namespace lathe {

struct TrainRequest {
  std::vector<std::string> records;  // files
  std::string cost_model = "gbt";    // that learns
  std::string leave_out = "";        // tasks whose names this expression (ECMAScript) is found in
  int64_t most_per_task = 1000;
  std::string out;
};

struct TrainedModel {
  int64_t tasks = 0;
  int64_t programs = 0;
  int64_t left_out = 0;  // records whose program this version does not make
  int64_t bytes = 0;
};

// An Error where a file cannot be read or written, the records teach nothing, or the model cannot be kept.
Result<TrainedModel> train_model(const TrainRequest& request, const Teller& note);

// How the model in `file` orders these records; with `only`, those of tasks whose names it is found in.
Result<std::vector<Judgement>> judge_model(const std::string& file, const std::vector<std::string>& records,
                                           const std::string& only, const Teller& note);

}  // namespace lathe
