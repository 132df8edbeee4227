// An evaluator that remembers: a program that its records have is not measured again, but has the time and
// the cost that it had then. Searches that are compared live so see the same times for the same programs, and
// one that is made again from its seed costs nothing until it comes to what was not measured.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "evaluate/evaluator.h"
#include "records/record_store.h"

namespace lathe {

class RecordedEvaluator : public Evaluator {
 public:
  // Of one task, in whose names the records speak (make_known); both others must outlive the object. An Error
  // where the records cannot be read.
  static Result<RecordedEvaluator> create(const Task& task, Evaluator& inner, RecordStore& records);

  MeasureSource source() const override { return inner_->source(); }
  int parallelism() const override { return inner_->parallelism(); }
  Status prepare(const CheckedTask& task, const Watch& watch) override {
    return inner_->prepare(task, watch);
  }
  Result<std::vector<Evaluated>> evaluate(std::span<const MeasureJob> jobs, const Watch& watch,
                                          const EvaluationListener& listener = {}) override;
  Result<FullCheck> check_in_full(const MeasureJob& job, const Watch& watch) override {
    return inner_->check_in_full(job, watch);
  }

  // How long calls of evaluate have taken here, whatever their programs are charged.
  double spent_seconds() const { return spent_seconds_; }

 private:
  RecordedEvaluator(const Task& task, Evaluator& inner, RecordStore& records);
  Status keep(const std::string& trace, const Evaluated& outcome);

  Evaluator* inner_;
  RecordStore* records_;
  Record blank_;                            // what all records of the task have in common
  std::map<std::string, Evaluated> known_;  // by trace
  double spent_seconds_ = 0;
};

}  // namespace lathe
