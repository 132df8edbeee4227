#include "search/strategies/genetic.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "search/parts/roulette.h"
#include "search/sampler.h"

namespace lathe {
namespace {

constexpr int kTries = 32;  // at a child that was not there before, until a random point takes its place

class Genetic : public Strategy {
 public:
  Genetic(SearchSpace space, uint64_t seed, const GeneticOptions& options)
      : space_(std::move(space)), options_(options), sampler_(space_, Rng(seed)) {}

  Proposal propose(int at_most, const Predictor&) override {
    Proposal proposal;
    while (std::ssize(proposal.points) < at_most) {
      // The next generation waits for all of this one.
      if (proposed_ == options_.population && !proposal.points.empty()) break;
      if (proposed_ == options_.population) begin_generation();
      auto point = parents_.empty() ? sampler_.draw() : child();
      if (!point) {
        proposal.exhausted = true;
        break;
      }
      proposal.points.push_back(std::move(*point));
      ++proposed_;
    }
    return proposal;
  }

  void observe(std::span<const Trial> trials) override {
    for (const Trial& trial : trials) {
      sampler_.use(trial.point);
      if (std::isfinite(trial.seconds) && space_.legal(trial.point)) generation_.push_back(trial);
    }
  }

 private:
  void begin_generation() {
    proposed_ = 0;
    std::vector<Trial> ranked = elites_;
    ranked.insert(ranked.end(), generation_.begin(), generation_.end());
    std::ranges::stable_sort(ranked, {}, &Trial::seconds);
    // The best of all, and the last generation.
    if (!generation_.empty()) parents_ = std::exchange(generation_, {});
    for (const Trial& elite : elites_) parents_.push_back(elite);
    if (std::ssize(ranked) > options_.elites) ranked.resize(static_cast<size_t>(options_.elites));
    elites_ = std::move(ranked);
    std::vector<double> throughputs;
    for (const Trial& parent : parents_) throughputs.push_back(1 / parent.seconds);
    wheel_ = Roulette(throughputs);
  }

  std::optional<Point> child() {
    for (int tries = 0; tries < kTries; ++tries) {
      Point point = bred();
      if (sampler_.used(point) || (space_.violation && space_.violation(point))) continue;
      sampler_.use(point);
      return point;
    }
    return sampler_.draw();
  }

  Point bred() {
    Rng& rng = sampler_.rng();
    Point child = parents_[wheel_.spin(rng)].point;
    const Point& other = parents_[wheel_.spin(rng)].point;
    const Domain& domain = space_.sketches[static_cast<size_t>(child.sketch)];
    const size_t parameters = domain.parameters.size();
    if (other.sketch == child.sketch && parameters > 1) {
      const int cut = domain.first_slot(1 + rng.below(parameters - 1));
      std::copy(other.integers.begin() + cut, other.integers.end(), child.integers.begin() + cut);
    }
    for (size_t i = 0; i < parameters; ++i)
      if (rng.chance(options_.mutation)) child.integers = redraw(domain, child.integers, i, rng);
    return child;
  }

  SearchSpace space_;
  GeneticOptions options_;
  Sampler sampler_;
  int proposed_ = 0;               // of this generation
  std::vector<Trial> generation_;  // what was measured of it, failures apart
  std::vector<Trial> elites_;
  std::vector<Trial> parents_;
  Roulette wheel_;
};

}  // namespace

std::vector<Setting<GeneticOptions>> genetic_settings() {
  return {{"population", &GeneticOptions::population, 1, 1e6},
          {"elites", &GeneticOptions::elites, 0, 1e6},
          {"mutation", &GeneticOptions::mutation, 0, 1}};
}

std::unique_ptr<Strategy> make_genetic(SearchSpace space, uint64_t seed, const GeneticOptions& options) {
  return std::make_unique<Genetic>(std::move(space), seed, options);
}

}  // namespace lathe
