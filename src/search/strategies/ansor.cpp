#include "search/strategies/ansor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "search/confidence_bound.h"
#include "search/parts/ansor_evolution.h"
#include "search/sampler.h"

namespace lathe {
namespace {

constexpr int kKeptPerPoint = 2;  // of the evolved points, for each that a round measures

// Says whom the next round's first population is drawn from.
class SketchChoice {
 public:
  virtual ~SketchChoice() = default;
  // One entry a sketch: those that are drawn from. `open` are those of which something is left.
  virtual std::vector<bool> next(const std::vector<bool>& open, Rng& rng) = 0;
  virtual void observe(std::span<const Trial>) {}
};

std::vector<bool> only(size_t sketches, size_t sketch) {
  std::vector<bool> in_play(sketches, false);
  in_play[sketch] = true;
  return in_play;
}

class AnySketch : public SketchChoice {
 public:
  std::vector<bool> next(const std::vector<bool>& open, Rng&) override { return open; }
};

class DrawnSketch : public SketchChoice {
 public:
  std::vector<bool> next(const std::vector<bool>& open, Rng& rng) override {
    std::vector<size_t> places;
    for (size_t i = 0; i < open.size(); ++i)
      if (open[i]) places.push_back(i);
    return only(open.size(), places[rng.below(places.size())]);
  }
};

// Formulas (3) and (4). A round is what is measured between two choices.
class BoundedSketch : public SketchChoice {
 public:
  BoundedSketch(size_t sketches, double exploration)
      : exploration_(exploration),
        best_seconds_(sketches, std::numeric_limits<double>::infinity()),
        rounds_(sketches, 0) {}

  std::vector<bool> next(const std::vector<bool>& open, Rng&) override {
    std::vector<double> bounds = sketch_bounds(best_seconds_, rounds_, exploration_);
    for (size_t i = 0; i < bounds.size(); ++i)
      if (!open[i]) bounds[i] = -1;
    const auto best = static_cast<size_t>(std::ranges::max_element(bounds) - bounds.begin());
    ++rounds_[best];
    return only(open.size(), best);
  }

  void observe(std::span<const Trial> trials) override {
    for (const Trial& trial : trials) {
      double& best = best_seconds_[static_cast<size_t>(trial.point.sketch)];
      best = std::min(best, trial.seconds);
    }
  }

 private:
  double exploration_;
  std::vector<double> best_seconds_;
  std::vector<int> rounds_;
};

class Ansor : public Strategy {
 public:
  Ansor(SearchSpace space, uint64_t seed, const AnsorOptions& options, std::unique_ptr<SketchChoice> choice)
      : space_(std::move(space)),
        options_(options),
        choice_(std::move(choice)),
        sampler_(space_, Rng(seed)),
        open_(space_.sketches.size(), true) {}

  int batch() const override { return options_.batch; }

  Proposal propose(int at_most, const Predictor& predictor) override {
    while (std::ranges::find(open_, true) != open_.end()) {
      const std::vector<bool> in_play = choice_->next(open_, sampler_.rng());
      std::vector<Point> points = round(in_play, at_most, predictor);
      if (!points.empty()) return {std::move(points)};
      for (size_t i = 0; i < open_.size(); ++i) open_[i] = open_[i] && !in_play[i];
    }
    return {{}, true};
  }

  void observe(std::span<const Trial> trials) override {
    choice_->observe(trials);
    for (const Trial& trial : trials) {
      sampler_.use(trial.point);
      if (std::isfinite(trial.seconds) && space_.legal(trial.point)) measured_.push_back(trial);
    }
    std::ranges::stable_sort(measured_, {}, &Trial::seconds);
  }

 private:
  // Points of the sketches in play alone, none where nothing of them is left.
  std::vector<Point> round(const std::vector<bool>& in_play, int count, const Predictor& predictor) {
    sampler_.set_in_play(in_play);
    std::vector<Point> points;
    if (predictor) {
      const int random = static_cast<int>(std::ceil(options_.random_share * count));
      for (const Scored& scored : evolved(in_play, predictor, count)) {
        if (std::ssize(points) >= count - random) break;
        if (sampler_.use(scored.point)) points.push_back(scored.point);
      }
    }
    while (std::ssize(points) < count) {
      const std::vector<Point> drawn = sampler_.peek(1);
      if (drawn.empty()) break;
      sampler_.use(drawn.front());
      points.push_back(drawn.front());
    }
    return points;
  }

  std::vector<Scored> evolved(const std::vector<bool>& in_play, const Predictor& predictor, int count) {
    std::vector<Point> first;
    const auto most = static_cast<size_t>(options_.measured_share * options_.population);
    for (const Trial& trial : measured_) {
      if (first.size() == most) break;
      if (in_play[static_cast<size_t>(trial.point.sketch)]) first.push_back(trial.point);
    }
    for (Point& point : sampler_.peek(options_.population - static_cast<int>(first.size())))
      first.push_back(std::move(point));
    const AnsorEvolution evolution{options_.generations, options_.mutation, options_.crossover,
                                   kKeptPerPoint * count};
    return evolve_as_ansor(space_, sampler_, std::move(first), predictor, evolution, sampler_.rng());
  }

  SearchSpace space_;
  AnsorOptions options_;
  std::unique_ptr<SketchChoice> choice_;
  Sampler sampler_;
  std::vector<bool> open_;       // sketches of which something is left
  std::vector<Trial> measured_;  // without failures, fastest first
};

}  // namespace

std::vector<Setting<AnsorOptions>> ansor_settings() {
  return {{"batch", &AnsorOptions::batch, 1, 1e6},
          {"population", &AnsorOptions::population, 1, 1e6},
          {"generations", &AnsorOptions::generations, 0, 1000},
          {"measured-share", &AnsorOptions::measured_share, 0, 1},
          {"mutation", &AnsorOptions::mutation, 0, 1},
          {"crossover", &AnsorOptions::crossover, 0, 1},
          {"random-share", &AnsorOptions::random_share, 0, 1},
          {"sketch-choice", &AnsorOptions::sketch_choice, 0, 0, {"round", "individual"}}};
}

std::vector<Setting<BansorOptions>> bansor_settings() {
  return {{"batch", &BansorOptions::batch, 1, 1e6},
          {"population", &BansorOptions::population, 1, 1e6},
          {"generations", &BansorOptions::generations, 0, 1000},
          {"measured-share", &BansorOptions::measured_share, 0, 1},
          {"mutation", &BansorOptions::mutation, 0, 1},
          {"crossover", &BansorOptions::crossover, 0, 1},
          {"random-share", &BansorOptions::random_share, 0, 1},
          {"exploration", &BansorOptions::exploration, 0, 1000}};
}

std::unique_ptr<Strategy> make_ansor(SearchSpace space, uint64_t seed, const AnsorOptions& options) {
  std::unique_ptr<SketchChoice> choice = std::make_unique<DrawnSketch>();
  if (options.sketch_choice == "individual") choice = std::make_unique<AnySketch>();
  return std::make_unique<Ansor>(std::move(space), seed, options, std::move(choice));
}

std::unique_ptr<Strategy> make_bansor(SearchSpace space, uint64_t seed, const BansorOptions& options) {
  auto choice = std::make_unique<BoundedSketch>(space.sketches.size(), options.exploration);
  const AnsorOptions evolution{.batch = options.batch,
                               .population = options.population,
                               .generations = options.generations,
                               .measured_share = options.measured_share,
                               .mutation = options.mutation,
                               .crossover = options.crossover,
                               .random_share = options.random_share};
  return std::make_unique<Ansor>(std::move(space), seed, evolution, std::move(choice));
}

}  // namespace lathe
