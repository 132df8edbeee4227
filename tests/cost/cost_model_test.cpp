#include "cost/cost_model.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

// Remembers what it was fitted on.
class Listener : public CostModel {
 public:
  FeatureKind wants() const override { return FeatureKind::summary; }
  Status fit(const CostSamples& samples, std::span<const double> margin) override {
    samples_ = samples.size();
    margin_ = std::ssize(margin);
    return {};
  }
  Result<Prediction> predict(const FeatureSet&) const override { return Prediction{}; }
  bool fitted() const override { return samples_ > 0; }

  int64_t samples_ = 0;
  int64_t margin_ = -1;
};

TEST(CostModel, WithoutAMarginThereIsNone) {
  Listener model;
  CostModel& face = model;
  CostSamples samples{.seconds = {1, 2}, .tasks = {0, 0}};
  for (int i = 0; i < 2; ++i) samples.features.add_row(std::vector{0.0F});
  ASSERT_TRUE(face.fit(samples));
  EXPECT_EQ(model.samples_, 2);
  EXPECT_EQ(model.margin_, 0);
  ASSERT_TRUE(face.fit(samples, std::vector{1.0, 2.0}));
  EXPECT_EQ(model.margin_, 2);
}

}  // namespace
}  // namespace lathe
