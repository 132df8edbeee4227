// An operator on which searches are compared live: what they measure is kept, so that a program has the same
// time in all of them (tune/recorded_evaluator.h).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "cost/cost_model.h"
#include "experiment/experiment.h"
#include "experiment/search_store.h"
#include "session/commands/search_parts.h"
#include "session/teller.h"

namespace lathe {

struct LiveSearchOptions {
  std::string strategy;  // by which its records know it
  StrategyFactory make_strategy;
  CostModelFactory make_model;
  int64_t trials = 0;
  int batch = 64;  // between two fits, where the strategy does not fix it
  uint64_t seed = 0;
};

class LiveGround {
 public:
  // `folder` is the experiment's, `records` the file in which measurements are kept, `worker` the program in
  // which candidates are measured. An Error says what is at fault.
  static Result<LiveGround> create(const ExperimentCase& one, const std::string& folder,
                                   const std::string& records, const std::string& worker, const Teller& note);
  LiveGround(LiveGround&&) noexcept;
  ~LiveGround();

  // The operator and its space.
  const std::string& name() const;
  // With the machine, the cores and the version of the compiler: searches of another one are others.
  const std::string& key() const;
  // From the beginning, whatever is recorded; none where `stop` ended it. Programs are charged what they took
  // when they were measured, everything else what it takes now.
  Result<std::optional<KeptSearch>> search(const LiveSearchOptions& options,
                                           const std::function<bool()>& stop);

 private:
  struct State;
  explicit LiveGround(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace lathe
