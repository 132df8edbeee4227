// What a cost model learns before it is used: the programs of records, of many tasks at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cost/cost_model.h"
#include "records/record_store.h"

namespace lathe {

struct TrainingOptions {
  FeatureKind features = FeatureKind::summary;  // any but `configuration`, which means nothing across tasks
  int64_t most_per_task = 1000;  // the best half of these for certain, the others drawn among all
  // Whether a task counts; empty: all do.
  std::function<bool(const TaskText&)> takes = {};
  uint64_t seed = 0;
};

struct TrainingSet {
  CostSamples samples;
  std::vector<TaskText> tasks;  // by the numbers that the samples have of them
  int64_t left_out = 0;         // records whose program this version does not make
};

// Of all targets and numbers of cores that are recorded, each of which is a task of its own. An Error where a
// store cannot be read.
Result<TrainingSet> training_set(const std::vector<const RecordStore*>& stores,
                                 const TrainingOptions& options);

// How well predictions order a task's records.
struct Judgement {
  TaskText task;
  int64_t records = 0;
  double ordered_pairs = 0;    // the share of pairs that are ordered as they were measured
  double quality_of_best = 0;  // the best recorded time over that of the record predicted to be the best
};
Result<std::vector<Judgement>> judge(const CostModel& model, const TrainingSet& set);

}  // namespace lathe
