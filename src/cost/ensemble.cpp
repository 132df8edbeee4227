#include "cost/ensemble.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/rng.h"

namespace lathe {
namespace {

// As many candidates as there are, each drawn from all.
CostSamples resampled(const CostSamples& samples, std::span<const double> margin,
                      std::vector<double>& new_margin, Rng& rng) {
  CostSamples drawn;
  for (int64_t k = 0; k < samples.size(); ++k) {
    const size_t i = rng.below(static_cast<uint64_t>(samples.size()));
    drawn.features.add(samples.features.rows_of(static_cast<int64_t>(i)));
    drawn.seconds.push_back(samples.seconds[i]);
    drawn.tasks.push_back(samples.tasks[i]);
    if (!margin.empty()) new_margin.push_back(margin[i]);
  }
  return drawn;
}

class Ensemble : public CostModel {
 public:
  Ensemble(const std::function<std::unique_ptr<CostModel>()>& make, int size, uint64_t seed) : seed_(seed) {
    for (int i = 0; i < size; ++i) members_.push_back(make());
  }

  FeatureKind wants() const override { return members_.front()->wants(); }

  Status fit(const CostSamples& samples, std::span<const double> margin) override {
    Rng rng(seed_);
    for (const std::unique_ptr<CostModel>& member : members_) {
      std::vector<double> own_margin;
      const CostSamples drawn = resampled(samples, margin, own_margin, rng);
      LATHE_TRY_STATUS(member->fit(drawn, own_margin));
    }
    return {};
  }

  Result<Prediction> predict(const FeatureSet& candidates) const override {
    const auto count = static_cast<size_t>(candidates.size());
    std::vector<double> sums(count, 0);
    std::vector<double> squares(count, 0);
    double members = 0;
    for (const std::unique_ptr<CostModel>& member : members_) {
      if (!member->fitted() && fitted()) continue;  // it drew what nothing can be learned from
      LATHE_TRY(const Prediction prediction, member->predict(candidates));
      members += 1;
      for (size_t i = 0; i < count; ++i) {
        sums[i] += prediction.mean[i];
        squares[i] += prediction.mean[i] * prediction.mean[i];
      }
    }
    Prediction all;
    for (size_t i = 0; i < count; ++i) {
      const double mean = sums[i] / members;
      all.mean.push_back(mean);
      all.stddev.push_back(std::sqrt(std::max(0.0, squares[i] / members - mean * mean)));
    }
    return all;
  }

  bool fitted() const override {
    return std::ranges::any_of(members_, [](const auto& member) { return member->fitted(); });
  }

 private:
  uint64_t seed_;
  std::vector<std::unique_ptr<CostModel>> members_;
};

}  // namespace

std::vector<Setting<EnsembleOptions>> ensemble_settings() {
  return {{"size", &EnsembleOptions::size, 1, 1000},
          {"seed", &EnsembleOptions::seed, 0, 1e9},
          {"features", &EnsembleOptions::features, 0, 0, row_kind_names()},
          {"rounds", &EnsembleOptions::rounds, 1, 1e5},
          {"depth", &EnsembleOptions::depth, 1, 32},
          {"eta", &EnsembleOptions::eta, 1e-6, 1}};
}

std::unique_ptr<CostModel> make_ensemble_of(const std::function<std::unique_ptr<CostModel>()>& make, int size,
                                            uint64_t seed) {
  return std::make_unique<Ensemble>(make, size, seed);
}

std::unique_ptr<CostModel> make_ensemble(const EnsembleOptions& options) {
  GbtOptions member{.objective = "regression", .features = options.features};
  member.rounds = options.rounds;
  member.depth = options.depth;
  member.eta = options.eta;
  return make_ensemble_of([member] { return make_gbt(member); }, options.size,
                          static_cast<uint64_t>(options.seed));
}

}  // namespace lathe
