// One measured candidate and all that is needed to make it again: the task's text, the trace, how it ran.
// Plain values. docs/record_format.md says how they lie in the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/measurement.h"
#include "records/recorded_point.h"
#include "task/task_text.h"

namespace lathe {

struct Record {
  int64_t id = 0;  // given by the store
  TaskText task;

  // Where it ran, and what compiled it.
  std::string target;  // the target's name
  std::string machine;
  int cores = 1;
  std::string compiler_version;

  // What ran: the trace, and the point of the space that it came from.
  std::string trace;
  RecordedPoint point;

  Measurement measurement;
  // The largest difference from the reference that its outputs were allowed, as a share of its magnitude,
  // also where it crashed or was late; none where the program was not built or it is not known.
  std::optional<double> tolerance = {};

  // How it was found.
  std::string strategy;
  uint64_t seed = 0;
  int64_t created_at = 0;   // milliseconds since 1970, UTC
  double wall_seconds = 0;  // building, running and checking this candidate

  bool operator==(const Record&) const = default;
};

// A task with what is recorded of it on one target with one number of cores.
struct TaskSummary {
  TaskText task;
  std::string target;
  int cores = 1;
  int64_t trials = 0;
  int64_t failed = 0;
  std::optional<double> best_seconds;  // none: every trial failed
  MeasureSource best_source = MeasureSource::measured;
  std::optional<int64_t> best_id;
};

}  // namespace lathe
