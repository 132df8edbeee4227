#include "search/parts/evolve.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

namespace lathe {
namespace {

constexpr double kMeasuredShare = 0.2;
constexpr double kCrossover = 0.1;  // of the offspring; the rest are mutants
constexpr double kStep = 0.6;       // of the mutants: one step of one parameter; the rest redraw it
constexpr int kTournament = 4;

bool cheaper(const Scored& a, const Scored& b) { return a.cost < b.cost; }

class Evolution {
 public:
  Evolution(const SearchSpace& space, Sampler& sampler, const Predictor& predictor,
            const EvolveOptions& options)
      : space_(space), sampler_(sampler), rng_(sampler.rng()), predictor_(predictor), options_(options) {}

  void start(std::span<const Point> measured) {
    const size_t room = static_cast<size_t>(kMeasuredShare * options_.population);
    std::vector<Point> first(measured.begin(), measured.begin() + std::min(room, measured.size()));
    for (Point& point : sampler_.peek(options_.population - static_cast<int>(first.size()))) {
      first.push_back(std::move(point));
    }
    for (const Point& point : first) met_.insert(space_.identity_of(point));
    join(std::move(first));
  }

  // One generation of children; false if nothing new could be found.
  bool step() {
    std::vector<Point> children;
    // Near the end of a small space most children are known already.
    for (int tries = 0; tries < 4 * options_.population && std::ssize(children) < options_.population;
         ++tries) {
      Point child = breed();
      if (sampler_.used(child) || !met_.insert(space_.identity_of(child)).second) continue;
      if (space_.violation && space_.violation(child)) continue;
      children.push_back(std::move(child));
    }
    if (children.empty()) return false;
    join(std::move(children));
    return true;
  }

  bool empty() const { return population_.empty(); }

  std::vector<Scored> best_unused(int keep) {
    std::stable_sort(candidates_.begin(), candidates_.end(), cheaper);
    if (std::ssize(candidates_) > keep) candidates_.resize(keep);
    return std::move(candidates_);
  }

 private:
  void join(std::vector<Point> points) {
    const std::vector<double> costs = mean_costs(predictor_, points);
    for (size_t i = 0; i < points.size(); ++i) {
      if (!std::isfinite(costs[i])) continue;
      if (!sampler_.used(points[i])) candidates_.push_back({points[i], costs[i]});
      population_.push_back({std::move(points[i]), costs[i]});
    }
    std::stable_sort(population_.begin(), population_.end(), cheaper);
    if (std::ssize(population_) > options_.population) population_.resize(options_.population);
  }

  const Point& parent() {
    size_t best = rng_.below(population_.size());  // the population is sorted: the least index wins
    for (int i = 1; i < kTournament; ++i) best = std::min<size_t>(best, rng_.below(population_.size()));
    return population_[best].point;
  }

  Point breed() {
    const Point& first = parent();
    const Domain& domain = space_.sketches[first.sketch];
    if (rng_.chance(kCrossover)) {
      const Point& second = parent();
      if (second.sketch == first.sketch) {
        return {first.sketch, crossover(domain, first.integers, second.integers, rng_)};
      }
    }
    if (rng_.chance(kStep)) return {first.sketch, random_neighbour(domain, first.integers, rng_)};
    return {first.sketch, mutate(domain, first.integers, rng_)};
  }

  const SearchSpace& space_;
  Sampler& sampler_;
  Rng& rng_;
  const Predictor& predictor_;
  const EvolveOptions& options_;
  std::vector<Scored> population_;  // sorted by cost
  std::vector<Scored> candidates_;
  std::unordered_set<uint64_t> met_;
};

}  // namespace

std::vector<Scored> evolve(const SearchSpace& space, Sampler& sampler, std::span<const Point> measured,
                           const Predictor& predictor, const EvolveOptions& options) {
  Evolution evolution(space, sampler, predictor, options);
  evolution.start(measured);
  for (int generation = 1; generation < options.generations && !evolution.empty(); ++generation) {
    if (!evolution.step()) break;
  }
  return evolution.best_unused(options.keep);
}

}  // namespace lathe
