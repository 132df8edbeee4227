#include "cost/ensemble.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace lathe {
namespace {

CostSamples line(int count, double least, double most) {
  CostSamples samples;
  for (int i = 0; i < count; ++i) {
    const double at = least + (most - least) * i / count;
    samples.features.add_row(std::vector{static_cast<float>(at)});
    samples.seconds.push_back(1 + at * at);
    samples.tasks.push_back(0);
  }
  return samples;
}

// A model that says what it learned last.
class Last : public CostModel {
 public:
  FeatureKind wants() const override { return FeatureKind::relation; }
  Status fit(const CostSamples& samples, std::span<const double>) override {
    if (samples.size() > 0) value_ = samples.seconds.back();
    return {};
  }
  Result<Prediction> predict(const FeatureSet& candidates) const override {
    const auto count = static_cast<size_t>(candidates.size());
    return Prediction{std::vector(count, *value_), std::vector(count, 0.0)};
  }
  bool fitted() const override { return value_.has_value(); }

 private:
  std::optional<double> value_;
};

TEST(Ensemble, IsTheMeanAndTheDeviationOfItsMembers) {
  const auto ensemble = make_ensemble_of([] { return std::make_unique<Last>(); }, 200, 3);
  EXPECT_EQ(ensemble->wants(), FeatureKind::relation);
  EXPECT_FALSE(ensemble->fitted());
  CostSamples two = line(2, 0, 0);
  two.seconds = {1, 3};
  ASSERT_TRUE(ensemble->fit(two));
  const Prediction prediction = ensemble->predict(two.features).value();
  ASSERT_EQ(prediction.mean.size(), 2U);
  EXPECT_NEAR(prediction.mean[0], 2, 0.25);
  EXPECT_NEAR(prediction.stddev[0], 1, 0.05);
}

TEST(Ensemble, IsLessSureWhereItSawLess) {
  const auto ensemble = make_ensemble({.size = 10});
  CostSamples samples = line(40, 0, 1);
  Rng rng(1);
  for (int i = 0; i < 6; ++i) {
    samples.features.add_row(std::vector{static_cast<float>(2 + 2 * rng.uniform())});
    samples.seconds.push_back(1 + 10 * rng.uniform());
    samples.tasks.push_back(0);
  }
  ASSERT_TRUE(ensemble->fit(samples));
  FeatureSet asked;
  asked.add_row(std::vector{0.8F});
  asked.add_row(std::vector{3.0F});
  const Prediction prediction = ensemble->predict(asked).value();
  EXPECT_GT(prediction.stddev[1], prediction.stddev[0]);
}

TEST(Ensemble, TheSeedIsAllThatIsRandom) {
  const CostSamples samples = line(30, 0, 1);
  const auto mean_of = [&](int seed) {
    const auto ensemble = make_ensemble({.seed = seed});
    EXPECT_TRUE(ensemble->fit(samples));
    return ensemble->predict(samples.features)->mean;
  };
  EXPECT_EQ(mean_of(1), mean_of(1));
  EXPECT_NE(mean_of(1), mean_of(2));
}

}  // namespace
}  // namespace lathe
