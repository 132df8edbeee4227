// Evaluates programs by running them on this machine: compiles one while another is measured where there is a
// core to spare, keeps the tasks' data within a bound, and the machine code of what is measured again and
// again. `runner` outlives it.
#pragma once

#include <cstdint>
#include <memory>

#include "evaluate/evaluator.h"
#include "measure/candidate_runner.h"

namespace lathe {

struct LocalOptions {
  bool overlap = false;  // compile beside the measurements: only with a core that no program runs on
  // Of inputs and references that are kept between jobs: those of the task at hand, and of as many of the
  // last ones as there is room for. What is not kept is drawn anew from the seed.
  int64_t data_bytes = int64_t{1} << 27;
};

class LocalEvaluator : public Evaluator {
 public:
  explicit LocalEvaluator(CandidateRunner& runner, const LocalOptions& options = {});
  LocalEvaluator(LocalEvaluator&&) noexcept;
  ~LocalEvaluator() override;

  MeasureSource source() const override { return MeasureSource::measured; }
  int parallelism() const override { return 1; }
  Status prepare(const CheckedTask& task, const Watch& watch) override;
  Result<std::vector<Evaluated>> evaluate(std::span<const MeasureJob> jobs, const Watch& watch,
                                          const EvaluationListener& listener = {}) override;
  Result<FullCheck> check_in_full(const MeasureJob& job, const Watch& watch) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lathe
