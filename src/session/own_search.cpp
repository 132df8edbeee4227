#include "session/own_search.h"

#include <optional>
#include <utility>

#include "search/sampler.h"
#include "search/strategy.h"

namespace lathe {
namespace {

Point point_of(const SearchPoint& candidate) { return {candidate.sketch, candidate.integers}; }
SearchPoint search_point_of(const Point& point) { return {point.sketch, point.integers}; }

std::vector<SearchPoint> search_points_of(std::span<const Point> points) {
  std::vector<SearchPoint> candidates;
  for (const Point& point : points) candidates.push_back(search_point_of(point));
  return candidates;
}

std::vector<Point> points_of(std::span<const SearchPoint> candidates) {
  std::vector<Point> points;
  for (const SearchPoint& candidate : candidates) points.push_back(point_of(candidate));
  return points;
}

// Stays where it is: its sampler refers to its space.
class SampledSpace : public PointSpace {
 public:
  SampledSpace(SearchSpace space, uint64_t seed) : space_(std::move(space)), sampler_(space_, Rng(seed)) {}

  const std::vector<std::string>& sketch_names() const override { return space_.sketch_names; }
  std::vector<SearchPoint> initial() const override { return search_points_of(space_.initial); }
  bool is_legal(const SearchPoint& candidate) const override {
    return has_sketch(candidate) && space_.legal(point_of(candidate));
  }
  std::vector<SearchPoint> neighbours(const SearchPoint& candidate) const override {
    std::vector<SearchPoint> around;
    if (!is_legal(candidate)) return around;
    const Domain& domain = space_.sketches[static_cast<size_t>(candidate.sketch)];
    for (auto& integers : lathe::neighbours(domain, candidate.integers))
      around.push_back({candidate.sketch, std::move(integers)});
    return around;
  }
  bool use(const SearchPoint& candidate) override {
    return has_sketch(candidate) && sampler_.use(point_of(candidate));
  }
  std::vector<SearchPoint> draw(int count) override {
    std::vector<SearchPoint> drawn;
    while (std::ssize(drawn) < count) {
      const std::optional<Point> point = sampler_.draw();
      if (!point) break;
      drawn.push_back(search_point_of(*point));
    }
    return drawn;
  }

 private:
  bool has_sketch(const SearchPoint& candidate) const {
    return candidate.sketch >= 0 && static_cast<size_t>(candidate.sketch) < space_.sketches.size();
  }

  SearchSpace space_;
  Sampler sampler_;
};

class OwnStrategy : public Strategy {
 public:
  OwnStrategy(SearchSpace space, uint64_t seed, const SearchMethodFactory& factory)
      : space_(std::move(space), seed), method_(factory(space_, seed)) {}

  Proposal propose(int count, const Predictor& predictor) override {
    PointScorer scored;
    if (predictor)
      scored = [&](std::span<const SearchPoint> candidates) {
        return predictor.full(points_of(candidates)).mean;
      };
    std::vector<Point> legal;
    for (const SearchPoint& candidate : method_->propose(count, scored)) {
      if (std::ssize(legal) < count && space_.is_legal(candidate)) legal.push_back(point_of(candidate));
    }
    const bool exhausted = std::ssize(legal) < count;
    return {std::move(legal), exhausted};
  }

  void observe(std::span<const Trial> trials) override {
    std::vector<PointOutcome> outcomes;
    for (const Trial& trial : trials) {
      outcomes.push_back({search_point_of(trial.point), trial.seconds});
      space_.use(outcomes.back().point);
    }
    method_->observe(outcomes);
  }

 private:
  SampledSpace space_;
  std::unique_ptr<SearchMethod> method_;
};

class OwnModel : public CostModel {
 public:
  explicit OwnModel(std::unique_ptr<CostPredictor> predictor) : predictor_(std::move(predictor)) {}

  FeatureKind wants() const override { return FeatureKind::summary; }
  Status fit(const CostSamples& samples, std::span<const double>) override {
    columns_ = samples.features.columns;
    fitted_ = predictor_->fit({columns_, samples.features.values}, samples.seconds);
    return {};
  }
  Result<Prediction> predict(const FeatureSet& rows) const override {
    if (!fitted_ || rows.columns != columns_)
      return fail(ErrorKind::invalid_argument, "the model was not fitted on rows of this length");
    Prediction prediction;
    prediction.mean = predictor_->predict({rows.columns, rows.values});
    if (std::ssize(prediction.mean) != rows.size())
      return fail(ErrorKind::invalid_argument, "the cost predictor did not give one cost for each row");
    prediction.stddev.assign(prediction.mean.size(), 0);
    return prediction;
  }
  bool fitted() const override { return fitted_; }

 private:
  std::unique_ptr<CostPredictor> predictor_;
  int64_t columns_ = 0;
  bool fitted_ = false;
};

}  // namespace

StrategyFactory own_strategy(const SearchMethodFactory& method) {
  return [method](SearchSpace space, uint64_t seed) {
    return std::make_unique<OwnStrategy>(std::move(space), seed, method);
  };
}

CostModelFactory own_cost_model(const CostPredictorFactory& predictor) {
  return [predictor] { return std::make_unique<OwnModel>(predictor()); };
}

void use_own_search(TuneOptions& options, const SearchMethodFactory& method,
                    const CostPredictorFactory& predictor) {
  if (method) options.strategy_factory = own_strategy(method);
  if (predictor) options.cost_model_factory = own_cost_model(predictor);
}

}  // namespace lathe
