#include "search/random.h"

#include <utility>

#include "search/sampler.h"

namespace lathe {
namespace {

class Random : public Strategy {
 public:
  Random(SearchSpace space, const StrategyOptions& options)
      : space_(std::move(space)), sampler_(space_, Rng(options.seed)) {}

  std::vector<Point> propose(int count, const Scorer&) override {
    std::vector<Point> batch;
    while (std::ssize(batch) < count) {
      auto point = sampler_.draw();
      if (!point) break;
      batch.push_back(std::move(*point));
    }
    return batch;
  }

  void observe(std::span<const Trial> trials) override {
    for (const Trial& trial : trials) sampler_.use(trial.point);
  }

 private:
  SearchSpace space_;
  Sampler sampler_;
};

}  // namespace

std::unique_ptr<Strategy> make_random(SearchSpace space, const StrategyOptions& options) {
  return std::make_unique<Random>(std::move(space), options);
}

}  // namespace lathe
