#include "evaluate/modelled_evaluator.h"

#include <limits>

#include "measure/timing.h"

namespace lathe {

int ModelledEvaluator::parallelism() const { return std::numeric_limits<int>::max(); }

Status ModelledEvaluator::prepare(const CheckedTask&, const Watch&) { return {}; }

Result<std::vector<Evaluated>> ModelledEvaluator::evaluate(std::span<const MeasureJob> jobs,
                                                           const Watch& watch,
                                                           const EvaluationListener& listener) {
  std::vector<Evaluated> outcomes;
  for (size_t i = 0; i < jobs.size() && !watch.is_over(); ++i) {
    const double start = monotonic_seconds();
    const Result<double> seconds = model_(*jobs[i].checked.task, *jobs[i].program);
    Measurement measurement;
    if (seconds) {
      measurement.seconds = *seconds;
    } else {
      measurement = failed_measurement(seconds.error().kind, seconds.error().message);
    }
    measurement.source = MeasureSource::modelled;
    outcomes.push_back({std::move(measurement), monotonic_seconds() - start});
    if (listener.done) LATHE_TRY_STATUS(listener.done(i, outcomes.back()));
  }
  return outcomes;
}

Result<FullCheck> ModelledEvaluator::check_in_full(const MeasureJob&, const Watch&) {
  FullCheck check;
  check.unfinished = "its time is modelled, and nothing was run";
  return check;
}

}  // namespace lathe
