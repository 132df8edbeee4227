#include "search/strategies/annealing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "search/acquisition.h"
#include "search/diversity.h"
#include "search/parts/incumbent.h"
#include "search/sampler.h"

namespace lathe {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// The unused points of least cost that were met, of each program one.
class BestMet {
 public:
  BestMet(const SearchSpace& space, size_t most) : space_(space), most_(most) {}

  // Whether it is among the best now, and was not.
  bool offer(const Point& point, double cost) {
    if (!std::isfinite(cost) || (points_.size() == most_ && cost >= costs_.back())) return false;
    if (!held_.insert(space_.identity_of(point)).second) return false;
    const auto place = std::ranges::upper_bound(costs_, cost) - costs_.begin();
    costs_.insert(costs_.begin() + place, cost);
    points_.insert(points_.begin() + place, point);
    if (points_.size() > most_) {
      held_.erase(space_.identity_of(points_.back()));
      points_.pop_back();
      costs_.pop_back();
    }
    return true;
  }

  const std::vector<Point>& points() const { return points_; }  // the least cost first
  const std::vector<double>& costs() const { return costs_; }

 private:
  const SearchSpace& space_;
  size_t most_;
  std::vector<Point> points_;
  std::vector<double> costs_;
  std::unordered_set<uint64_t> held_;
};

class Annealing : public Strategy {
 public:
  Annealing(SearchSpace space, uint64_t seed, const AnnealingOptions& options)
      : space_(std::move(space)), options_(options), sampler_(space_, Rng(seed)) {}

  int batch() const override { return options_.batch; }

  Proposal propose(int at_most, const Predictor& predictor) override {
    std::vector<Point> points;
    if (predictor) {
      int random = 0;
      for (int i = 0; i < at_most; ++i) random += sampler_.rng().chance(options_.random_share);
      points = best_by(predictor, at_most - random);
    }
    const bool exhausted = !sampler_.fill(points, at_most);
    return {std::move(points), exhausted};
  }

  void observe(std::span<const Trial> trials) override {
    for (const Trial& trial : trials) sampler_.use(trial.point);
    incumbent_.observe(trials);
  }

 private:
  std::vector<double> costs(const Predictor& predictor, std::span<const Point> points) const {
    return incumbent_.costs(predictor, points, options_.acquisition, options_.kappa);
  }

  std::vector<Point> best_by(const Predictor& predictor, int wanted) {
    const auto most = static_cast<size_t>(std::ceil(std::max(1.0, options_.candidates) * wanted));
    BestMet met(space_, most);
    if (most > 0) anneal(predictor, met);
    std::vector<Point> chosen;
    DiverseSet covered;
    const double diversity = options_.candidates > 1 ? options_.diversity : 0;
    for (const size_t i : choose_diverse(met.points(), met.costs(), wanted, diversity, covered)) {
      sampler_.use(met.points()[i]);
      chosen.push_back(met.points()[i]);
    }
    return chosen;
  }

  // Lets the chains walk, and tells `met` of every point that they come to.
  void anneal(const Predictor& predictor, BestMet& met) {
    if (std::ssize(chains_) < options_.chains) chains_ = sampler_.peek(options_.chains);
    if (chains_.empty()) return;
    std::vector<double> energies = costs(predictor, chains_);
    for (size_t i = 0; i < chains_.size(); ++i)
      if (!sampler_.used(chains_[i])) met.offer(chains_[i], energies[i]);
    const double range = spread(energies);
    int unchanged = 0;
    for (int step = 0; step < options_.steps && unchanged < options_.patience; ++step) {
      const double temperature =
          options_.heat * (1 - static_cast<double>(step) / static_cast<double>(options_.steps));
      std::vector<Point> next;
      for (const Point& chain : chains_) next.push_back(moved(chain));
      const std::vector<double> found = legal_costs(predictor, next);
      bool changed = false;
      for (size_t i = 0; i < chains_.size(); ++i) {
        if (!sampler_.used(next[i])) changed |= met.offer(next[i], found[i]);
        if (!accepted(energies[i], found[i], range * temperature)) continue;
        chains_[i] = std::move(next[i]);
        energies[i] = found[i];
      }
      unchanged = changed ? 0 : unchanged + 1;
    }
  }

  // One component drawn anew; the sketch is one of them.
  Point moved(const Point& from) {
    Rng& rng = sampler_.rng();
    const size_t sketches = space_.sketches.size();
    const Domain& domain = space_.sketches[static_cast<size_t>(from.sketch)];
    if (sketches > 1 && rng.below(domain.parameters.size() + 1) == 0) {
      const size_t sketch = (static_cast<size_t>(from.sketch) + 1 + rng.below(sketches - 1)) % sketches;
      return {static_cast<int>(sketch), sample(space_.sketches[sketch], rng)};
    }
    return {from.sketch, mutate(domain, from.integers, rng)};
  }

  std::vector<double> legal_costs(const Predictor& predictor, const std::vector<Point>& points) const {
    std::vector<Point> legal;
    std::vector<size_t> places;
    for (size_t i = 0; i < points.size(); ++i) {
      if (space_.violation && space_.violation(points[i])) continue;
      legal.push_back(points[i]);
      places.push_back(i);
    }
    const std::vector<double> known = costs(predictor, legal);
    std::vector<double> all(points.size(), kNever);
    for (size_t i = 0; i < places.size(); ++i) all[places[i]] = known[i];
    return all;
  }

  bool accepted(double energy, double next, double temperature) {
    if (!std::isfinite(next)) return false;
    if (next <= energy) return true;
    return temperature > 0 && sampler_.rng().chance(std::exp((energy - next) / temperature));
  }

  double spread(const std::vector<double>& energies) const {
    if (options_.energy == "plain") return 1;
    double least = kNever;
    double most = -kNever;
    for (const double energy : energies) {
      if (!std::isfinite(energy)) continue;
      least = std::min(least, energy);
      most = std::max(most, energy);
    }
    return most > least ? most - least : 1;
  }

  SearchSpace space_;
  AnnealingOptions options_;
  Sampler sampler_;
  Incumbent incumbent_;
  std::vector<Point> chains_;  // where they stand
};

}  // namespace

std::vector<Setting<AnnealingOptions>> annealing_settings() {
  return {{"batch", &AnnealingOptions::batch, 1, 1e6},
          {"chains", &AnnealingOptions::chains, 1, 1e6},
          {"steps", &AnnealingOptions::steps, 1, 1e6},
          {"patience", &AnnealingOptions::patience, 1, 1e6},
          {"heat", &AnnealingOptions::heat, 0, 1e6},
          {"candidates", &AnnealingOptions::candidates, 1, 1000},
          {"diversity", &AnnealingOptions::diversity, 0, 1000},
          {"random-share", &AnnealingOptions::random_share, 0, 1},
          {"energy", &AnnealingOptions::energy, 0, 0, {"spread", "plain"}},
          {"acquisition", &AnnealingOptions::acquisition, 0, 0, acquisition_names()},
          {"kappa", &AnnealingOptions::kappa, 0, 1000}};
}

std::unique_ptr<Strategy> make_annealing(SearchSpace space, uint64_t seed, const AnnealingOptions& options) {
  return std::make_unique<Annealing>(std::move(space), seed, options);
}

}  // namespace lathe
