// What gives programs their times: by running them here (local_evaluator.h) or by a formula
// (modelled_evaluator.h). Used by one thread at a time.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/watch.h"
#include "check/problem.h"
#include "evaluate/measure_job.h"

namespace lathe {

struct Evaluated {
  Measurement measurement;
  double wall_seconds = 0;   // spent on this job: building, running, checking
  double build_seconds = 0;  // of these, on machine code; 0 where it was there
};

// Who waits for the outcomes; every function may be empty.
struct EvaluationListener {
  // Called once for each job that is done, in their order and as soon as it is. An Error ends the evaluation.
  std::function<Status(size_t job, const Evaluated& outcome)> done = {};
  // What the caller does with the time where a job takes longer than kLongWaitSeconds.
  std::function<void()> while_waiting = {};
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;

  virtual MeasureSource source() const = 0;
  // How many jobs it takes at once: with fewer some of what it has lies idle.
  virtual int parallelism() const = 0;

  // Makes ready what jobs of the task are checked with; evaluate does so too where it was not called. An
  // Error (unsupported) says why programs of this task cannot be compared; one of kind timeout, that the
  // watch was over first.
  virtual Status prepare(const CheckedTask& task, const Watch& watch) = 0;

  // One outcome for each job, in their order; the last ones are missing where the watch ended it. What a
  // program does wrong is its measurement's failure; an Error means that nothing can be evaluated.
  virtual Result<std::vector<Evaluated>> evaluate(std::span<const MeasureJob> jobs, const Watch& watch,
                                                  const EvaluationListener& listener = {}) = 0;

  // Compares every element of what the program computes with the reference. An Error means that nothing can
  // be run.
  virtual Result<FullCheck> check_in_full(const MeasureJob& job, const Watch& watch) = 0;
};

}  // namespace lathe
