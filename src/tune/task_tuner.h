// Tunes one task: its space, a strategy, a cost model and the measurements between them, one batch at a time.
// What is measured is in the records within a second and before a step returns. Used by one thread; compiles
// the next candidate on another while one is measured where the machine has a core to spare.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "measure/measurer.h"
#include "records/record_store.h"
#include "task/task.h"

namespace lathe {

struct TuneOptions {
  std::string strategy = "evolutionary";
  std::string cost_model = "gbt";
  uint64_t seed = 0;
  int batch = 16;        // candidates between two fits of the model
  bool overlap = false;  // compile beside the measurements: only with a core that no candidate runs on
};

struct TuneProgress {
  int64_t trials = 0;  // recorded for this task, earlier runs included
  int64_t failed = 0;
  double best_seconds = 0;  // 0: nothing valid yet
  double best_spread = 0;
  bool used_up = false;  // the space has no point left
};

class TaskTuner {
 public:
  // Takes over what the records hold of this task, target, cores and compiler version. `measurer` and
  // `records` must outlive the tuner.
  static Result<TaskTuner> create(const Task& task, const TuneOptions& options, Measurer& measurer,
                                  RecordStore& records);
  TaskTuner(TaskTuner&&) noexcept;
  TaskTuner& operator=(TaskTuner&&) noexcept;
  ~TaskTuner();

  // Tries at most `count` more candidates, fewer when `stop` says so or the space is used up. An Error means
  // that nothing can be measured or recorded; what a candidate does wrong is a record.
  Status step(int count, const std::function<bool()>& stop);
  const TuneProgress& progress() const;
  const Task& task() const;

 private:
  struct State;
  explicit TaskTuner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lathe
