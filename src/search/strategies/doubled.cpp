#include "search/strategies/doubled.h"

#include <utility>

#include "search/strategies/random.h"

namespace lathe {
namespace {

class Doubled : public Strategy {
 public:
  explicit Doubled(std::unique_ptr<Strategy> strategy) : strategy_(std::move(strategy)) {}

  Proposal propose(int at_most, const Predictor& predictor) override {
    return strategy_->propose(at_most, predictor);
  }
  void observe(std::span<const Trial> trials) override { strategy_->observe(trials); }
  int batch() const override { return 2 * strategy_->batch(); }
  int measured_per_trial() const override { return 2 * strategy_->measured_per_trial(); }

 private:
  std::unique_ptr<Strategy> strategy_;
};

}  // namespace

std::unique_ptr<Strategy> doubled(std::unique_ptr<Strategy> strategy) {
  return std::make_unique<Doubled>(std::move(strategy));
}

std::unique_ptr<Strategy> make_random_x2(SearchSpace space, uint64_t seed) {
  return doubled(make_random(std::move(space), seed));
}

std::unique_ptr<Strategy> make_genetic_x2(SearchSpace space, uint64_t seed, const GeneticOptions& options) {
  return doubled(make_genetic(std::move(space), seed, options));
}

}  // namespace lathe
