#include "search/strategies/descent.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_set>
#include <utility>

#include "domain/domain_direction.h"
#include "search/sampler.h"
#include "search/welch.h"

namespace lathe {
namespace {

SampleSummary summary_of(const Trial& trial) {
  return {trial.seconds, trial.deviation * trial.deviation, static_cast<double>(std::max(1, trial.samples))};
}

class Descent : public Strategy {
 public:
  Descent(SearchSpace space, uint64_t seed, const DescentOptions& options)
      : space_(std::move(space)), options_(options), sampler_(space_, Rng(seed)) {}

  Proposal propose(int at_most, const Predictor&) override {
    if (observed_ < options_.samples) return drawn(std::min(at_most, options_.samples - observed_));
    // What the step before gave decides where the next one begins.
    if (waiting_.empty() && !prepare()) return drawn(at_most);
    Proposal proposal;
    const auto count = std::min(static_cast<size_t>(at_most), waiting_.size());
    proposal.points.assign(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
    return proposal;
  }

  void observe(std::span<const Trial> trials) override {
    for (const Trial& trial : trials) {
      sampler_.use(trial.point);
      ++observed_;
      if (!std::isfinite(trial.seconds) || !space_.legal(trial.point)) continue;
      measured_.push_back(trial);
      if (stepped_.contains(space_.identity_of(trial.point)) &&
          (!best_step_ || trial.seconds < best_step_->seconds))
        best_step_ = trial;
    }
  }

 private:
  Proposal drawn(int count) {
    Proposal proposal;
    proposal.exhausted = !sampler_.fill(proposal.points, count);
    return proposal;
  }

  // The next steps to be measured; false where there is no point left to walk from.
  bool prepare() {
    take_step();
    while (waiting_.empty()) {
      if (!at_ && !start()) return false;
      const size_t parameters = domain().parameters.size();
      for (; waiting_.empty() && unchanged_ < parameters; ++unchanged_) {
        add_steps(parameter_);
        parameter_ = (parameter_ + 1) % parameters;
      }
      if (waiting_.empty()) at_.reset();  // no parameter leads on
    }
    return true;
  }

  // Goes where the best of the last steps led, if it gains for sure; then all parameters may lead on again,
  // the one that did first.
  void take_step() {
    stepped_.clear();
    if (!best_step_) return;
    const Trial step = *std::exchange(best_step_, std::nullopt);
    if (!at_ || step.seconds >= at_->seconds) return;
    if (welch_test(summary_of(step), summary_of(*at_)).probability >= options_.significance) return;
    at_ = step;
    left_.insert(space_.identity_of(step.point));
    const size_t parameters = domain().parameters.size();
    parameter_ = (parameter_ + parameters - 1) % parameters;
    unchanged_ = 0;
  }

  // The best measured point from which no walk has gone.
  bool start() {
    std::ranges::stable_sort(measured_, {}, &Trial::seconds);
    for (const Trial& trial : measured_) {
      if (space_.sketches[static_cast<size_t>(trial.point.sketch)].parameters.empty()) continue;
      if (!left_.insert(space_.identity_of(trial.point)).second) continue;
      at_ = trial;
      parameter_ = 0;
      unchanged_ = 0;
      return true;
    }
    return false;
  }

  void add_steps(size_t parameter) {
    for (const Direction& direction : directions(domain(), parameter)) {
      auto integers = step(domain(), at_->point.integers, direction);
      if (!integers) continue;
      Point point{at_->point.sketch, std::move(*integers)};
      if (sampler_.used(point) || (space_.violation && space_.violation(point))) continue;
      sampler_.use(point);
      stepped_.insert(space_.identity_of(point));
      waiting_.push_back(std::move(point));
    }
  }

  const Domain& domain() const { return space_.sketches[static_cast<size_t>(at_->point.sketch)]; }

  SearchSpace space_;
  DescentOptions options_;
  Sampler sampler_;
  int observed_ = 0;
  std::vector<Trial> measured_;           // failures apart
  std::optional<Trial> at_;               // where the walk stands
  size_t parameter_ = 0;                  // that is changed next
  size_t unchanged_ = 0;                  // parameters that were changed since the last gain
  std::vector<Point> waiting_;            // steps that are to be measured
  std::unordered_set<uint64_t> stepped_;  // the steps of this parameter
  std::optional<Trial> best_step_;        // of them, as far as they were measured
  std::unordered_set<uint64_t> left_;     // points from which walks went
};

}  // namespace

std::vector<Setting<DescentOptions>> descent_settings() {
  return {{"samples", &DescentOptions::samples, 1, 1e6},
          {"significance", &DescentOptions::significance, 0, 1}};
}

std::unique_ptr<Strategy> make_descent(SearchSpace space, uint64_t seed, const DescentOptions& options) {
  return std::make_unique<Descent>(std::move(space), seed, options);
}

}  // namespace lathe
