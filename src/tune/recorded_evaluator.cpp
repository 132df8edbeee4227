#include "tune/recorded_evaluator.h"

#include <chrono>
#include <utility>

#include "base/compiler_version.h"
#include "measure/timing.h"
#include "task/task_text.h"
#include "tune/task_records.h"

namespace lathe {
namespace {

int64_t milliseconds_now() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace

RecordedEvaluator::RecordedEvaluator(const Task& task, Evaluator& inner, RecordStore& records)
    : inner_(&inner), records_(&records) {
  blank_.task = text_of(task);
  blank_.target = task.target.name;
  blank_.machine = task.target.machine;
  blank_.cores = cores_of(task.target);
  blank_.compiler_version = compiler_version();
  blank_.strategy = "experiment";
}

Result<RecordedEvaluator> RecordedEvaluator::create(const Task& task, Evaluator& inner,
                                                    RecordStore& records) {
  RecordedEvaluator evaluator(task, inner, records);
  LATHE_TRY(const std::vector<Record> known, records.find(records_of(task)));
  for (const Record& record : known) {
    if (record.measurement.source == inner.source())
      evaluator.known_.insert_or_assign(record.trace, Evaluated{record.measurement, record.wall_seconds});
  }
  return evaluator;
}

Status RecordedEvaluator::keep(const MeasureJob& job, const Evaluated& outcome) {
  Record record = blank_;
  record.trace = to_string(job.program->trace);
  record.measurement = outcome.measurement;
  record.created_at = milliseconds_now();
  record.wall_seconds = outcome.wall_seconds;
  LATHE_TRY_STATUS(records_->append(record));
  known_.insert_or_assign(record.trace, outcome);
  return {};
}

Result<std::vector<Evaluated>> RecordedEvaluator::evaluate(std::span<const MeasureJob> jobs,
                                                           const Watch& watch,
                                                           const EvaluationListener& listener) {
  const double start = monotonic_seconds();
  std::vector<Evaluated> outcomes;
  const auto deliver = [&](const Evaluated& outcome) -> Status {
    outcomes.push_back(outcome);
    return listener.done ? listener.done(outcomes.size() - 1, outcome) : Status();
  };
  // What is known of the jobs up to that one.
  const auto deliver_known = [&](size_t end) -> Status {
    while (outcomes.size() < end) {
      const auto known = known_.find(to_string(jobs[outcomes.size()].program->trace));
      if (known == known_.end()) return {};
      LATHE_TRY_STATUS(deliver(known->second));
    }
    return {};
  };
  std::vector<MeasureJob> unknown;
  std::vector<size_t> places;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (known_.contains(to_string(jobs[i].program->trace))) continue;
    unknown.push_back(jobs[i]);
    places.push_back(i);
  }
  EvaluationListener inner;
  inner.while_waiting = listener.while_waiting;
  inner.done = [&](size_t k, const Evaluated& outcome) -> Status {
    LATHE_TRY_STATUS(keep(unknown[k], outcome));
    LATHE_TRY_STATUS(deliver_known(places[k]));
    return deliver(outcome);
  };
  if (!unknown.empty()) LATHE_TRY_STATUS(inner_->evaluate(unknown, watch, inner));
  LATHE_TRY_STATUS(deliver_known(jobs.size()));
  spent_seconds_ += monotonic_seconds() - start;
  return outcomes;
}

}  // namespace lathe
