// Measures candidates in a worker process of its own: whatever a candidate does, be it to crash, hang, write
// where it must not or compute something wrong, is a named failure of that candidate and of nothing else.
//
// A Measurer owns its worker and the memory shared with it. It is used by one thread at a time, the one that
// started it, which must live as long. While it waits it sleeps; its worker keeps to the cpus it was given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/measurement.h"
#include "measure/timing.h"
#include "runtime/module.h"

namespace lathe {

struct MeasureOptions {
  std::string worker_path;      // the lathe-worker executable
  int cores = 1;                // threads of the pool that candidates run on, each on a cpu of its own
  std::vector<int> cpus = {};   // where they run, one for each core; empty: the first of the affinity mask
  double timeout_seconds = 10;  // to load, prepare and run a candidate for the first time
  double give_up_ratio = 2;     // a candidate this much slower than the best is timed once
  TimingOptions timing = {};
  int64_t input_bytes = int64_t{4} << 30;  // kept in shared memory for later candidates
};

// The bytes of one input or constant, as laid out in memory. Bytes with the same id and generation are the
// same: they are copied to the worker once, however many candidates use them. A new generation replaces the
// old one.
struct MeasureInput {
  uint64_t id = 0;
  uint64_t generation = 0;
  std::span<const std::byte> bytes = {};
};

// Compares the outputs of a candidate's first run, in the order of the module's output buffers, with a
// reference. The error's kind and message become the candidate's failure: say index, expected and got.
using OutputCheck = std::function<Status(std::span<const std::span<const std::byte>> outputs)>;

struct MeasureInputs {
  std::vector<MeasureInput>
      buffers;                 // one for each of the module's buffers; those of other roles are not looked at
  OutputCheck check = {};      // empty: outputs are not looked at
  double best_seconds = 0;     // of this task so far, for give_up_ratio; 0: none
  double timeout_seconds = 0;  // in place of the options' one; 0: that one
};

class Measurer {
 public:
  // Starts the worker and waits until it answers. An error if it cannot be started, or if the affinity mask
  // has fewer cpus than cores.
  static Result<Measurer> start(const MeasureOptions& options);

  Measurer(Measurer&&) noexcept;
  Measurer& operator=(Measurer&&) noexcept;
  ~Measurer();

  // Measures one candidate. What the candidate does wrong is the measurement's failure; an error means that
  // nothing can be measured: bytes that do not fit the module's buffers, no worker, no memory.
  Result<Measurement> measure(const Module& module, const MeasureInputs& inputs);

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
