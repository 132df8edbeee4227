// What runs candidates, as the tuner sees it: code and inputs go in, times or a named failure come out. Used
// by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "measure/measurement.h"
#include "module/module.h"

namespace lathe {

constexpr double kLongWaitSeconds = 0.25;

// The bytes of one input or constant, as laid out in memory: they are written straight to where the candidate
// reads them, and need not be anywhere else. Bytes with the same id and generation are the same: they are
// written once, however many candidates use them. A new generation replaces the old one. Those without an id
// (0) are like no others.
struct MeasureInput {
  uint64_t id = 0;
  uint64_t generation = 0;
  int64_t bytes = 0;                                     // how many
  std::function<void(std::span<std::byte>)> write = {};  // to memory that is aligned and all zero
};

// Compares the outputs of a candidate's first run, in the order of the module's output buffers, with a
// reference. The error's kind and message become the candidate's failure: say index, expected and got.
using OutputCheck = std::function<Status(std::span<const std::span<const std::byte>> outputs)>;

struct MeasureInputs {
  std::vector<MeasureInput>
      buffers;                 // one for each of the module's buffers; those of other roles are not looked at
  OutputCheck check = {};      // empty: outputs are not looked at
  double best_seconds = 0;     // of this task so far, for give_up_ratio and rough_ratio; 0: none
  double timeout_seconds = 0;  // in place of the options' one; 0: that one
  bool runs_cold = false;      // constants and outputs are taken out of the caches before each run
  // What the caller does with the time once the candidate takes longer than kLongWaitSeconds to load and run
  // first, or to be timed. Called in the thread that measures.
  std::function<void()> on_long_wait = {};
  // Asked every kLongWaitSeconds while the candidate is loaded, run or timed; true ends it as a timeout does.
  std::function<bool()> stop = {};
  // What is left for all of it. A candidate that could not be timed in it is given the time of its first run.
  double seconds_left = std::numeric_limits<double>::infinity();
};

class CandidateRunner {
 public:
  virtual ~CandidateRunner() = default;

  // Runs one candidate, checks it and times it. What the candidate does wrong is the measurement's failure;
  // an error means that nothing can be measured: bytes that do not fit the module's buffers, no worker, no
  // memory.
  virtual Result<Measurement> measure(const Module& module, const MeasureInputs& inputs) = 0;
  // The same without any timing: one run, checked; what went wrong with it, or nothing.
  virtual Result<std::optional<MeasureFailure>> verify(const Module& module, const MeasureInputs& inputs) = 0;
};

}  // namespace lathe
