#include "search/parts/ansor_evolution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "domain/domain_split.h"
#include "search/parts/roulette.h"

namespace lathe {
namespace {

struct Kind {
  bool (*holds)(const Parameter&);
  double weight;
};
template <class... Kinds>
bool is_any_of(const Parameter& parameter) {
  return (std::holds_alternative<Kinds>(parameter.kind) || ...);
}
constexpr std::array kKinds{Kind{is_any_of<SplitParameter>, 0.90},
                            Kind{is_any_of<CategoricalParameter, PermutationParameter>, 0.05},
                            Kind{is_any_of<OrderedParameter>, 0.05}};

// The parameters of a kind, in order.
std::vector<size_t> of_kind(const Domain& domain, const Kind& kind) {
  std::vector<size_t> places;
  for (size_t i = 0; i < domain.parameters.size(); ++i)
    if (kind.holds(domain.parameters[i])) places.push_back(i);
  return places;
}

std::vector<int64_t> changed(const Domain& domain, std::vector<int64_t> integers, size_t parameter,
                             Rng& rng) {
  const auto* split = std::get_if<SplitParameter>(&domain.parameters[parameter].kind);
  if (split == nullptr || split->imperfect) return redraw(domain, integers, parameter, rng);
  const auto begin = integers.begin() + domain.first_slot(parameter);
  const Factors factors(begin, begin + split->parts - 1);
  if (const auto given = divisor_given(*split, factors, rng)) std::ranges::copy(*given, begin);
  return integers;
}

class Population {
 public:
  Population(const SearchSpace& space, const Sampler& sampler, const Predictor& predictor, Rng& rng)
      : space_(space), sampler_(sampler), predictor_(predictor), rng_(rng) {}

  // The points take the place of the population; those without a cost are left out.
  void replace(std::vector<Point> points) {
    const std::vector<double> costs = mean_costs(predictor_, points);
    population_.clear();
    for (size_t i = 0; i < points.size(); ++i) {
      if (!std::isfinite(costs[i])) continue;
      const bool is_new = met_.insert(space_.identity_of(points[i])).second;
      if (is_new && !sampler_.used(points[i])) met_unused_.push_back({points[i], costs[i]});
      population_.push_back({std::move(points[i]), costs[i]});
    }
    double worst = 0;
    if (!population_.empty()) worst = std::ranges::max_element(population_, {}, &Scored::cost)->cost;
    std::vector<double> weights;
    for (const Scored& one : population_) weights.push_back(worst - one.cost);
    wheel_ = Roulette(weights);
  }

  bool empty() const { return population_.empty(); }

  Point child(const AnsorEvolution& options) {
    const Point& parent = population_[wheel_.spin(rng_)].point;
    const Domain& domain = space_.sketches[static_cast<size_t>(parent.sketch)];
    const double drawn = rng_.uniform();
    if (drawn < options.mutation) return {parent.sketch, ansor_mutant(domain, parent.integers, rng_)};
    if (drawn >= options.mutation + options.crossover) return parent;
    const Point& other = population_[wheel_.spin(rng_)].point;
    if (other.sketch != parent.sketch) return parent;
    return {parent.sketch, crossover(domain, parent.integers, other.integers, rng_)};
  }

  std::vector<Scored> best_unused(int keep) {
    std::ranges::stable_sort(met_unused_, {}, &Scored::cost);
    if (std::ssize(met_unused_) > keep) met_unused_.resize(static_cast<size_t>(keep));
    return std::move(met_unused_);
  }

 private:
  const SearchSpace& space_;
  const Sampler& sampler_;
  const Predictor& predictor_;
  Rng& rng_;
  std::vector<Scored> population_;
  std::vector<Scored> met_unused_;
  std::unordered_set<uint64_t> met_;
  Roulette wheel_;
};

}  // namespace

std::vector<int64_t> ansor_mutant(const Domain& domain, const std::vector<int64_t>& integers, Rng& rng) {
  std::vector<double> weights;
  for (const Kind& kind : kKinds) weights.push_back(of_kind(domain, kind).empty() ? 0 : kind.weight);
  const std::vector<size_t> places = of_kind(domain, kKinds[Roulette(weights).spin(rng)]);
  if (places.empty()) return integers;
  return changed(domain, integers, places[rng.below(places.size())], rng);
}

std::vector<Scored> evolve_as_ansor(const SearchSpace& space, const Sampler& sampler,
                                    std::vector<Point> first, const Predictor& predictor,
                                    const AnsorEvolution& options, Rng& rng) {
  const size_t size = first.size();
  Population population(space, sampler, predictor, rng);
  population.replace(std::move(first));
  for (int generation = 0; generation < options.generations && !population.empty(); ++generation) {
    std::vector<Point> children;
    // A child that the space rejects is bred again, as often as there are children to breed.
    for (size_t tries = 0; tries < 2 * size && children.size() < size; ++tries) {
      Point child = population.child(options);
      if (!space.violation || !space.violation(child)) children.push_back(std::move(child));
    }
    population.replace(std::move(children));
  }
  return population.best_unused(options.keep);
}

}  // namespace lathe
