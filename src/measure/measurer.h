// Measures candidates in a worker process of its own: whatever a candidate does, be it to crash, hang, write
// where it must not or compute something wrong, is a named failure of that candidate and of nothing else.
//
// A Measurer owns its worker and the memory shared with it. It is used by one thread at a time, the one that
// started it, which must live as long. While it waits it sleeps; its worker keeps to the cpus it was given.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/candidate_runner.h"
#include "measure/measurement.h"
#include "measure/timing.h"
#include "module/module.h"

namespace lathe {

struct MeasureOptions {
  std::string worker_path;      // the lathe-worker executable
  int cores = 1;                // threads of the pool that candidates run on, each on a cpu of its own
  std::vector<int> cpus = {};   // where they run, one for each core; empty: the first of the affinity mask
  double timeout_seconds = 10;  // for a candidate's first run where the inputs name no limit
  double give_up_ratio = 2;     // a candidate this much slower than the best is timed once
  double rough_ratio = 1.3;     // and one this much slower with no more samples than must be
  TimingOptions timing = {};
  // Of inputs that later candidates may read, beside those of the present one; others are written again, in
  // some milliseconds.
  int64_t input_bytes = int64_t{1} << 25;
};

class Measurer : public CandidateRunner {
 public:
  // Starts the worker and waits until it answers. An error if it cannot be started, or if the affinity mask
  // has fewer cpus than cores.
  static Result<Measurer> start(const MeasureOptions& options);

  Measurer(Measurer&&) noexcept;
  Measurer& operator=(Measurer&&) noexcept;
  ~Measurer() override;

  Result<Measurement> measure(const Module& module, const MeasureInputs& inputs) override;
  Result<std::optional<MeasureFailure>> verify(const Module& module, const MeasureInputs& inputs) override;

  // The cpus that candidates run on: what else the caller does meanwhile belongs on others.
  const std::vector<int>& cpus() const;
  // The worker's process id; it changes when a candidate has ended the worker.
  int worker_pid() const;

 private:
  struct State;
  explicit Measurer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lathe
