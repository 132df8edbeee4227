#include "tune/training_set.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "schedule/prefix_replay.h"
#include "target/target.h"
#include "tune/feature_rows.h"

namespace lathe {
namespace {

// Records of one task on one target with one number of cores.
using TaskKey = std::tuple<uint64_t, std::string, int>;

Result<std::map<TaskKey, std::vector<Record>>> records_by_task(const std::vector<const RecordStore*>& stores,
                                                               const TrainingOptions& options) {
  std::map<TaskKey, std::vector<Record>> by_task;
  for (const RecordStore* store : stores) {
    LATHE_TRY(std::vector<Record> records, store->find({.source = MeasureSource::measured}));
    for (Record& record : records) {
      if (options.takes && !options.takes(record.task)) continue;
      by_task[{record.task.hash, record.target, record.cores}].push_back(std::move(record));
    }
  }
  return by_task;
}

// The best half of what is wanted, and the rest drawn among the others.
std::vector<const Record*> chosen_of(const std::vector<Record>& records, int64_t most, Rng& rng) {
  std::vector<const Record*> order;
  for (const Record& record : records) order.push_back(&record);
  const auto faster = [](const Record* a, const Record* b) {
    if (a->measurement.ok() != b->measurement.ok()) return a->measurement.ok();
    return a->measurement.ok() && a->measurement.seconds < b->measurement.seconds;
  };
  std::ranges::stable_sort(order, faster);
  const auto wanted = static_cast<size_t>(std::min<int64_t>(most, std::ssize(order)));
  for (size_t i = (wanted + 1) / 2; i < wanted; ++i)
    std::swap(order[i], order[i + rng.below(order.size() - i)]);
  order.resize(wanted);
  return order;
}

// Neighbours in the order of their traces share the beginnings of these.
void add_records(const Task& task, std::vector<const Record*> records, FeatureKind kind, TrainingSet& set) {
  std::ranges::stable_sort(records, {},
                           [](const Record* record) -> const std::string& { return record->trace; });
  PrefixReplay replay(task);
  const auto number = static_cast<int>(set.tasks.size());
  for (const Record* record : records) {
    const Result<Trace> trace = parse_trace(record->trace);
    const Result<Program> program =
        trace ? replay.apply(*trace) : Result<Program>(std::unexpected(trace.error()));
    if (!program) {
      ++set.left_out;
      continue;
    }
    set.samples.features.add(program_rows(kind, *program, task.target));
    set.samples.seconds.push_back(record->measurement.ok() ? record->measurement.seconds
                                                           : std::numeric_limits<double>::infinity());
    set.samples.tasks.push_back(number);
  }
  set.tasks.push_back(records.front()->task);
}

}  // namespace

Result<TrainingSet> training_set(const std::vector<const RecordStore*>& stores,
                                 const TrainingOptions& options) {
  LATHE_CHECK(options.features != FeatureKind::configuration);
  LATHE_TRY(const auto by_task, records_by_task(stores, options));
  TrainingSet set;
  Rng rng(options.seed);
  for (const auto& [key, records] : by_task) {
    const Result<Target> target = parse_target(std::get<1>(key));
    const Result<Task> task = target ? task_of(records.front().task, with_cores(*target, std::get<2>(key)))
                                     : Result<Task>(std::unexpected(target.error()));
    if (!task) {
      set.left_out += std::ssize(records);
      continue;
    }
    add_records(*task, chosen_of(records, options.most_per_task, rng), options.features, set);
  }
  return set;
}

Result<std::vector<Judgement>> judge(const CostModel& model, const TrainingSet& set) {
  LATHE_TRY(const Prediction prediction, model.predict(set.samples.features));
  std::vector<Judgement> judgements;
  for (size_t task = 0; task < set.tasks.size(); ++task) {
    std::vector<std::pair<double, double>> members;  // predicted, measured
    for (size_t i = 0; i < set.samples.seconds.size(); ++i)
      if (std::cmp_equal(set.samples.tasks[i], task))
        members.emplace_back(prediction.mean[i], set.samples.seconds[i]);
    if (members.empty()) continue;
    double right = 0;
    double pairs = 0;
    for (size_t i = 0; i < members.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (members[i].second == members[j].second) continue;
        ++pairs;
        right += (members[i].first < members[j].first) == (members[i].second < members[j].second) ? 1 : 0;
      }
    }
    const double best = std::ranges::min(members, {}, &std::pair<double, double>::second).second;
    const double predicted = std::ranges::min(members, {}, &std::pair<double, double>::first).second;
    judgements.push_back({set.tasks[task], std::ssize(members), pairs > 0 ? right / pairs : 1,
                          best == predicted ? 1 : best / predicted});
  }
  return judgements;
}

}  // namespace lathe
