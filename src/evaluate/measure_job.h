// What is to be evaluated, as a value that can be sent to another process: a program of a task, the data that
// it is checked on, how near it must be. Whoever evaluates it owns data, reference and worker. JSON both
// ways; what is read was written by anyone (a worker process of this program gets measure/protocol.h's
// messages, which are not JSON).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "measure/measurement.h"
#include "schedule/written.h"
#include "task/task.h"

namespace lathe {

// A task and what its programs are checked by.
struct CheckedTask {
  std::shared_ptr<const Task> task;  // never null
  uint64_t seed = 1;                 // of the random inputs
  // The largest difference from the reference as a share of its magnitude; none: relative_tolerance.
  std::optional<double> tolerance = {};
};

struct MeasureJob {
  CheckedTask checked;
  std::shared_ptr<const Written> program;  // never null
  // Of the task's best program so far: one that is hopeless beside it need not be measured to the end. 0:
  // none.
  double best_seconds = 0;
};

// One JSON object.
std::string print(const MeasureJob& job);
// An Error names `source` and what in it is wrong: text that is no job, a task, target or trace that does not
// read back, a trace that is illegal for the task, a target that this machine does not run.
Result<MeasureJob> parse_measure_job(std::string_view text, const std::string& source);

// The same of what came of one.
std::string print(const Measurement& measurement);
Result<Measurement> parse_measurement(std::string_view text, const std::string& source);

}  // namespace lathe
