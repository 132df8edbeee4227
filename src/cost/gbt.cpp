#include "cost/gbt.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/check.h"
#include "cost/objective.h"

namespace lathe {
namespace {

class Gbt : public CostModel {
 public:
  explicit Gbt(const GbtOptions& options)
      : options_(options), wants_(*parse_feature_kind(options.features)) {}

  FeatureKind wants() const override { return wants_; }

  Status fit(const CostSamples& samples, std::span<const double> margin) override {
    trees_.reset();
    columns_ = samples.features.columns;
    if (!anything_to_learn(samples)) return {};
    BoostingOptions boosting;
    boosting.rounds = options_.rounds;
    boosting.depth = options_.depth;
    boosting.eta = options_.eta;
    boosting.gamma = options_.gamma;
    boosting.lambda = options_.lambda;
    // A candidate's second derivative is 1 where errors are squared, and at most 1/4 with ranks.
    boosting.child_weight = options_.objective == "regression" ? 2 : boosting.child_weight;
    if (options_.child_weight > 0) boosting.child_weight = options_.child_weight;
    LATHE_TRY(trees_,
              train_trees(samples.features, make_objective(options_.objective, samples), boosting, margin));
    return {};
  }

  Result<Prediction> predict(const FeatureSet& candidates) const override {
    if (!trees_) return fail(ErrorKind::invalid_argument, "the cost model predicts only after it was fitted");
    if (candidates.size() == 0) return Prediction{};
    if (candidates.columns != columns_) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("the cost model was fitted on {} features a row, not {}", columns_,
                              candidates.columns));
    }
    const std::vector<float> costs = trees_->predict(candidates);
    return Prediction{{costs.begin(), costs.end()}, std::vector<double>(costs.size(), 0.0)};
  }

  bool fitted() const override { return trees_.has_value(); }

  Result<std::string> save() const override {
    if (!trees_) return fail(ErrorKind::invalid_argument, "the cost model is kept only after it was fitted");
    return bytes_of({"gbt", wants_, columns_, trees_->bytes()});
  }
  void take(FlatTrees trees) {
    columns_ = trees.columns();
    trees_ = std::move(trees);
  }

 private:
  GbtOptions options_;
  FeatureKind wants_;
  int64_t columns_ = 0;
  std::optional<FlatTrees> trees_;
};

}  // namespace

std::vector<Setting<GbtOptions>> gbt_settings() {
  return {{"objective", &GbtOptions::objective, 0, 0, objective_names()},
          {"features", &GbtOptions::features, 0, 0, row_kind_names()},
          {"rounds", &GbtOptions::rounds, 1, 1e5},
          {"depth", &GbtOptions::depth, 1, 32},
          {"eta", &GbtOptions::eta, 1e-6, 1},
          {"gamma", &GbtOptions::gamma, 0, 1e6},
          {"child-weight", &GbtOptions::child_weight, 0, 1e6},
          {"lambda", &GbtOptions::lambda, 0, 1e6}};
}

std::unique_ptr<CostModel> make_gbt(const GbtOptions& options) { return std::make_unique<Gbt>(options); }

Result<std::unique_ptr<CostModel>> load_gbt(const SavedModel& saved, const std::string& source) {
  LATHE_TRY(FlatTrees trees, FlatTrees::from_bytes(saved.numbers, source));
  if (trees.columns() != saved.columns)
    return fail(ErrorKind::parse, "its trees are of another number of columns than its header says", source);
  auto model = std::make_unique<Gbt>(
      GbtOptions{.features = feature_kind_names()[static_cast<size_t>(saved.features)]});
  model->take(std::move(trees));
  return model;
}

}  // namespace lathe
