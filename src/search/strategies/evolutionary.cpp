#include "search/strategies/evolutionary.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "search/diversity.h"
#include "search/parts/evolve.h"
#include "search/parts/sketch_bandit.h"
#include "search/sampler.h"

namespace lathe {
namespace {

constexpr int kCandidatesPerPoint = 2;        // of least predicted cost, from which a diverse batch is chosen
constexpr int kRandomCandidatesPerPoint = 8;  // the same while there is no model

class Evolutionary : public Strategy {
 public:
  Evolutionary(SearchSpace space, uint64_t seed, const EvolutionaryOptions& options)
      : space_(std::move(space)),
        options_(options),
        sampler_(space_, Rng(seed)),
        bandit_(space_.sketches.size()) {}

  Proposal propose(int count, const Predictor& predictor) override {
    std::vector<Point> batch;
    take_initial(batch, count);
    if (predictor) {
      take_guided(batch, count, predictor);
    } else {
      take_diverse(batch, count);
    }
    const bool exhausted = !sampler_.fill(batch, count);
    return {std::move(batch), exhausted};
  }

  void observe(std::span<const Trial> trials) override {
    for (const Trial& trial : trials) {
      sampler_.use(trial.point);
      if (std::isfinite(trial.seconds) && space_.legal(trial.point)) best_.push_back(trial);
    }
    bandit_.observe(trials);
    sampler_.set_in_play(bandit_.in_play());
    const auto faster = [](const Trial& a, const Trial& b) { return a.seconds < b.seconds; };
    std::stable_sort(best_.begin(), best_.end(), faster);
    if (std::ssize(best_) > options_.population) best_.resize(options_.population);
  }

 private:
  void take_initial(std::vector<Point>& batch, int count) {
    for (; next_initial_ < space_.initial.size() && std::ssize(batch) < count; ++next_initial_) {
      const Point& point = space_.initial[next_initial_];
      if (space_.legal(point) && sampler_.use(point)) batch.push_back(point);
    }
  }

  void take_diverse(std::vector<Point>& batch, int count) {
    const int wanted = count - static_cast<int>(batch.size());
    const std::vector<Point> points = sampler_.peek(kRandomCandidatesPerPoint * wanted);
    DiverseSet covered;
    for (const Point& point : batch) covered.add(point);
    take(batch, points, choose_diverse(points, std::vector<double>(points.size()), wanted, 1.0, covered));
  }

  void take_guided(std::vector<Point>& batch, int count, const Predictor& predictor) {
    const int wanted = count - static_cast<int>(batch.size());
    if (wanted == 0) return;
    take_descent(batch, share(options_.descent_share, wanted), predictor);
    const int random = wanted == 1 ? sampler_.rng().chance(options_.random_share)
                                   : std::max(1, share(options_.random_share, wanted));
    const int evolved = std::max(0, count - random - static_cast<int>(batch.size()));
    if (evolved > 0) take_evolved(batch, evolved, predictor);
  }

  // Neighbours of the best measured points, those of least predicted cost first.
  void take_descent(std::vector<Point>& batch, int wanted, const Predictor& predictor) {
    if (wanted == 0) return;
    std::vector<Point> points;
    std::unordered_set<uint64_t> met;
    for (int k = 0; k < std::min<int>(options_.descent_from, static_cast<int>(best_.size())); ++k) {
      const Point& from = best_[k].point;
      for (auto& integers : neighbours(space_.sketches[from.sketch], from.integers)) {
        Point next{from.sketch, std::move(integers)};
        if (sampler_.used(next) || !met.insert(space_.identity_of(next)).second) continue;
        if (space_.violation && space_.violation(next)) continue;
        points.push_back(std::move(next));
      }
    }
    DiverseSet covered;
    take(batch, points, choose_diverse(points, mean_costs(predictor, points), wanted, 0.0, covered));
  }

  void take_evolved(std::vector<Point>& batch, int wanted, const Predictor& predictor) {
    std::vector<Point> measured;
    for (const Trial& trial : best_) {
      if (sampler_.in_play(trial.point)) measured.push_back(trial.point);
    }
    const std::vector<Scored> scored =
        evolve(space_, sampler_, measured, predictor,
               {options_.population, options_.generations, kCandidatesPerPoint * wanted});
    std::vector<Point> points;
    std::vector<double> costs;
    for (const Scored& candidate : scored) {
      points.push_back(candidate.point);
      costs.push_back(candidate.cost);
    }
    DiverseSet covered;
    take(batch, points, choose_diverse(points, costs, wanted, options_.diversity, covered));
  }

  void take(std::vector<Point>& batch, const std::vector<Point>& points, const std::vector<size_t>& chosen) {
    for (size_t i : chosen) {
      sampler_.use(points[i]);
      batch.push_back(points[i]);
    }
  }

  static int share(double part, int whole) { return static_cast<int>(std::lround(part * whole)); }

  SearchSpace space_;
  EvolutionaryOptions options_;
  Sampler sampler_;
  SketchBandit bandit_;
  size_t next_initial_ = 0;
  std::vector<Trial> best_;  // the successful trials, fastest first, at most a population
};

}  // namespace

std::vector<Setting<EvolutionaryOptions>> evolutionary_settings() {
  return {{"random-share", &EvolutionaryOptions::random_share, 0, 1},
          {"descent-share", &EvolutionaryOptions::descent_share, 0, 1},
          {"descent-from", &EvolutionaryOptions::descent_from, 1, 1000},
          {"diversity", &EvolutionaryOptions::diversity, 0, 1000},
          {"population", &EvolutionaryOptions::population, 1, 1e6},
          {"generations", &EvolutionaryOptions::generations, 1, 1000}};
}

std::unique_ptr<Strategy> make_evolutionary(SearchSpace space, uint64_t seed,
                                            const EvolutionaryOptions& options) {
  return std::make_unique<Evolutionary>(std::move(space), seed, options);
}

}  // namespace lathe
