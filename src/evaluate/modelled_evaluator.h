// Evaluates programs by a formula: what an FPGA's design takes, or a search's own model where nothing is to
// be run. Its times are marked as modelled, and none of them beats a measured one.
#pragma once

#include <functional>

#include "evaluate/evaluator.h"

namespace lathe {

// Seconds of a run of the program, or why the program cannot be built.
using TimeModel = std::function<Result<double>(const Task& task, const Written& program)>;

class ModelledEvaluator : public Evaluator {
 public:
  explicit ModelledEvaluator(TimeModel model) : model_(std::move(model)) {}

  MeasureSource source() const override { return MeasureSource::modelled; }
  // Any number: a formula takes no turns.
  int parallelism() const override;
  Status prepare(const CheckedTask& task, const Watch& watch) override;
  Result<std::vector<Evaluated>> evaluate(std::span<const MeasureJob> jobs, const Watch& watch,
                                          const EvaluationListener& listener = {}) override;
  // Nothing is run: the check says so.
  Result<FullCheck> check_in_full(const MeasureJob& job, const Watch& watch) override;

 private:
  TimeModel model_;
};

}  // namespace lathe
