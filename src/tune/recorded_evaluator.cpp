#include "tune/recorded_evaluator.h"

#include <utility>

#include "measure/timing.h"
#include "tune/task_records.h"

namespace lathe {
RecordedEvaluator::RecordedEvaluator(const Task& task, Evaluator& inner, RecordStore& records)
    : inner_(&inner), records_(&records), blank_(blank_record(task, "experiment", 0)) {}

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

Status RecordedEvaluator::keep(const std::string& trace, const Evaluated& outcome) {
  Record record = blank_;
  record.trace = trace;
  record.measurement = outcome.measurement;
  record.created_at = unix_milliseconds();
  record.wall_seconds = outcome.wall_seconds;
  LATHE_TRY_STATUS(records_->append(record));
  known_.insert_or_assign(trace, outcome);
  return {};
}

Result<std::vector<Evaluated>> RecordedEvaluator::evaluate(std::span<const MeasureJob> jobs,
                                                           const Watch& watch,
                                                           const EvaluationListener& listener) {
  const double start = monotonic_seconds();
  std::vector<std::string> traces;
  for (const MeasureJob& job : jobs) traces.push_back(to_string(job.program->trace));
  std::vector<Evaluated> outcomes;
  const auto deliver = [&](const Evaluated& outcome) -> Status {
    outcomes.push_back(outcome);
    return listener.done ? listener.done(outcomes.size() - 1, outcome) : Status();
  };
  // What is known of the jobs up to that one.
  const auto deliver_known = [&](size_t end) -> Status {
    while (outcomes.size() < end) {
      const auto known = known_.find(traces[outcomes.size()]);
      if (known == known_.end()) return {};
      LATHE_TRY_STATUS(deliver(known->second));
    }
    return {};
  };
  std::vector<MeasureJob> unknown;
  std::vector<size_t> places;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (known_.contains(traces[i])) continue;
    unknown.push_back(jobs[i]);
    places.push_back(i);
  }
  EvaluationListener inner;
  inner.while_waiting = listener.while_waiting;
  inner.done = [&](size_t k, const Evaluated& outcome) -> Status {
    LATHE_TRY_STATUS(keep(traces[places[k]], outcome));
    LATHE_TRY_STATUS(deliver_known(places[k]));
    return deliver(outcome);
  };
  if (!unknown.empty()) LATHE_TRY_STATUS(inner_->evaluate(unknown, watch, inner));
  LATHE_TRY_STATUS(deliver_known(jobs.size()));
  spent_seconds_ += monotonic_seconds() - start;
  return outcomes;
}

}  // namespace lathe
