#include "search/strategies/random.h"

#include <utility>

#include "search/sampler.h"

namespace lathe {
namespace {

class Random : public Strategy {
 public:
  Random(SearchSpace space, uint64_t seed) : space_(std::move(space)), sampler_(space_, Rng(seed)) {}

  Proposal propose(int count, const Predictor&) override {
    std::vector<Point> batch;
    const bool exhausted = !sampler_.fill(batch, count);
    return {std::move(batch), exhausted};
  }

  void observe(std::span<const Trial> trials) override {
    for (const Trial& trial : trials) sampler_.use(trial.point);
  }

 private:
  SearchSpace space_;
  Sampler sampler_;
};

}  // namespace

std::unique_ptr<Strategy> make_random(SearchSpace space, uint64_t seed) {
  return std::make_unique<Random>(std::move(space), seed);
}

}  // namespace lathe
