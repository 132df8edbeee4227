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
constexpr int kDrafted = 8;  // times as many points in a population that is drafted

bool cheaper(const Scored& a, const Scored& b) { return a.cost < b.cost; }

class Evolution {
 public:
  Evolution(const SearchSpace& space, Sampler& sampler, const Predictor& predictor,
            const EvolveOptions& options)
      : space_(space),
        sampler_(sampler),
        rng_(sampler.rng()),
        predictor_(predictor),
        options_(options),
        size_(options.population * (drafts() ? kDrafted : 1)) {}

  void start(std::span<const Point> measured) {
    const auto room = static_cast<size_t>(kMeasuredShare * size_);
    std::vector<Point> first(measured.begin(), measured.begin() + std::min(room, measured.size()));
    const int fresh = size_ - static_cast<int>(first.size());
    for (Point& point : drafts() ? sampler_.guess(fresh) : sampler_.peek(fresh))
      first.push_back(std::move(point));
    std::erase_if(first, [&](const Point& point) { return !meet(point); });
    join(std::move(first));
  }

  // One generation of children; false if nothing new could be found.
  bool step() {
    std::vector<Point> children;
    // Near the end of a small space most children are known already.
    for (int tries = 0; tries < 4 * size_ && std::ssize(children) < size_; ++tries) {
      Point child = breed();
      if (!drafts() && sampler_.used(child)) continue;
      if (meet(child) && (drafts() || may_be_tried(child))) children.push_back(std::move(child));
    }
    if (children.empty()) return false;
    join(std::move(children));
    return true;
  }

  bool empty() const { return population_.empty(); }

  std::vector<Scored> best_unused(int keep) {
    std::stable_sort(candidates_.begin(), candidates_.end(), cheaper);
    if (drafts()) verify();
    if (std::ssize(candidates_) > keep) candidates_.resize(keep);
    return std::move(candidates_);
  }

 private:
  bool drafts() const { return static_cast<bool>(predictor_.draft); }

  // Whether the point is new here: where points are drafted by its integers, else by its program.
  bool meet(const Point& point) {
    return met_.insert(drafts() ? hash_of(point) : space_.identity_of(point)).second;
  }
  bool may_be_tried(const Point& point) const { return !space_.violation || !space_.violation(point); }

  void join(std::vector<Point> points) {
    const std::vector<double> costs =
        drafts() ? mean_costs({predictor_.draft, {}}, points) : mean_costs(predictor_, points);
    for (size_t i = 0; i < points.size(); ++i) {
      if (!std::isfinite(costs[i])) continue;
      if (drafts() || !sampler_.used(points[i])) candidates_.push_back({points[i], costs[i]});
      population_.push_back({std::move(points[i]), costs[i]});
    }
    std::stable_sort(population_.begin(), population_.end(), cheaper);
    if (std::ssize(population_) > size_) population_.resize(size_);
  }

  // The best drafts that may be tried, by what the model says of their programs.
  void verify() {
    std::vector<Point> points;
    std::unordered_set<uint64_t> programs;
    for (const Scored& drafted : candidates_) {
      if (std::ssize(points) == options_.population) break;
      if (!may_be_tried(drafted.point) || sampler_.used(drafted.point)) continue;
      if (programs.insert(space_.identity_of(drafted.point)).second) points.push_back(drafted.point);
    }
    const std::vector<double> costs = mean_costs(predictor_, points);
    candidates_.clear();
    for (size_t i = 0; i < points.size(); ++i) {
      if (std::isfinite(costs[i])) candidates_.push_back({std::move(points[i]), costs[i]});
    }
    std::stable_sort(candidates_.begin(), candidates_.end(), cheaper);
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
  int size_;                        // of the population
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
