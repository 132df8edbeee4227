// The data side of a task: inputs to run candidates on and a reference to check them against. Inputs are
// drawn once from a seed (check/draw_data.h), outputs compared by their type (check/compare_output.h); the
// reference of sampled elements comes straight from the Dag, that of all from a direct program of it in
// double (check/reference.h) which agrees with them. Used by one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/watch.h"
#include "loop/host_tensor.h"
#include "loop/loop.h"
#include "measure/candidate_runner.h"
#include "schedule/trace.h"
#include "task/task.h"

namespace lathe {

struct ProblemOptions {
  uint64_t seed = 1;
  // Outputs up to so many elements are compared whole; of larger ones so many points, corners and edges among
  // them. All elements are looked at for NaN.
  int64_t sampled_points = 1500;
  // The largest allowed difference of floats as a share of the output's magnitude; none:
  // relative_tolerance. Integers and booleans have none.
  std::optional<double> tolerance = {};
};

// Why a program was not compared at all, beyond the sample of its measurement.
constexpr const char* kNoTimeLeft = "there was no time left";

// All elements of a program's outputs beside the reference.
struct FullCheck {
  std::optional<MeasureFailure> failure;  // a wrong element, or a run that failed
  // Why the elements were not compared: there was no time left, or too little memory. Then nothing else is
  // known.
  std::optional<std::string> unfinished = {};
  double largest_difference = 0;  // as a share of the output's magnitude
  double tolerance = 0;           // what it may be
};

class Problem {
 public:
  // An Error (unsupported) says why programs of this task cannot be compared; one of kind timeout, that the
  // watch was over before its inputs were drawn.
  static Result<Problem> create(const Task& task, const ProblemOptions& options = {},
                                const Watch& watch = {});

  Problem(Problem&&) noexcept;
  Problem& operator=(Problem&&) noexcept;
  ~Problem();

  // What the data of a task's problem take: its inputs as their types keep them.
  static int64_t bytes_of_data(const Task& task);
  // What it takes to compare all elements of a program's outputs.
  static double bytes_to_compare(const Task& task);

  // The largest difference that the outputs of this trace's program are allowed.
  double tolerance_of(const Trace& trace) const;
  // What a candidate is measured with: inputs in the layouts that the scheduled program gives its arguments,
  // and the check of its outputs, which fails (timeout) where the watch is over before it is done. They stay
  // valid as long as the problem.
  MeasureInputs inputs_for(const Program& program, const Trace& trace, const Watch& watch = {});

  // Runs a program's machine code once and compares every element. The reference (check/reference.h) is made
  // with the first call and kept. An Error means that nothing can be run.
  Result<FullCheck> check_in_full(const Program& program, const Trace& trace, const Module& module,
                                  CandidateRunner& runner, const Watch& watch = {});
  // Runs it once and compares the sampled elements.
  Result<std::optional<MeasureFailure>> check_sampled(const Program& program, const Trace& trace,
                                                      const Module& module, CandidateRunner& runner,
                                                      const Watch& watch = {});

 private:
  struct State;
  explicit Problem(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lathe
