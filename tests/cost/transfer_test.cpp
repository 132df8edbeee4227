#include "cost/transfer.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/rng.h"
#include "cost/gbt.h"
#include "cost/pair_accuracy.h"

namespace lathe {
namespace {

// Seconds follow the first of four numbers; of the second task the second one too.
CostSamples task(int number, int count, uint64_t seed) {
  Rng rng(seed);
  CostSamples samples;
  for (int i = 0; i < count; ++i) {
    std::vector<float> row;
    for (int k = 0; k < 4; ++k) row.push_back(static_cast<float>(rng.uniform()));
    const double own = number == 0 ? 0 : 0.5 * static_cast<double>(row[1]);
    samples.seconds.push_back(1 + static_cast<double>(row[0]) + own);
    samples.tasks.push_back(number);
    samples.features.add_row(std::move(row));
  }
  return samples;
}

std::shared_ptr<const CostModel> global_model() {
  std::shared_ptr<CostModel> model = make_gbt();
  EXPECT_TRUE(model->fit(task(0, 300, 1)));
  return model;
}

TEST(Transfer, TheGlobalModelsWeightHalvesAndEnds) {
  EXPECT_EQ(transfer_weight(0, {}), 1);
  EXPECT_DOUBLE_EQ(transfer_weight(64, {}), 0.5);
  EXPECT_DOUBLE_EQ(transfer_weight(256, {}), 0.0625);
  EXPECT_EQ(transfer_weight(320, {}), 0) << "below 0.05";
  EXPECT_EQ(transfer_weight(1000, {.half_life = 0}), 1);
}

TEST(Transfer, BeforeAnythingIsMeasuredTheGlobalModelPredicts) {
  const auto global = global_model();
  const auto model = make_transfer(global, make_gbt());
  EXPECT_TRUE(model->fitted());
  const CostSamples unseen = task(1, 100, 3);
  EXPECT_EQ(model->predict(unseen.features)->mean, global->predict(unseen.features)->mean);
  EXPECT_GT(pair_accuracy(unseen, model->predict(unseen.features)->mean), 0.75);
}

// With few candidates of the task both together are better than either alone.
TEST(Transfer, FewCandidatesAddToWhatOthersTaught) {
  const auto global = global_model();
  const auto model = make_transfer(global, make_gbt());
  const auto alone = make_gbt();
  const CostSamples few = task(1, 24, 2);
  ASSERT_TRUE(model->fit(few));
  ASSERT_TRUE(alone->fit(few));
  const CostSamples unseen = task(1, 200, 3);
  const double both = pair_accuracy(unseen, model->predict(unseen.features)->mean);
  EXPECT_GT(both, pair_accuracy(unseen, alone->predict(unseen.features)->mean));
  EXPECT_GT(both, pair_accuracy(unseen, global->predict(unseen.features)->mean));
}

TEST(Transfer, OfManyCandidatesTheGlobalModelSaysNothing) {
  const auto model = make_transfer(global_model(), make_gbt());
  const auto alone = make_gbt();
  const CostSamples many = task(1, 400, 2);
  ASSERT_TRUE(model->fit(many));
  ASSERT_TRUE(alone->fit(many, std::vector<double>(400, 0.0)));
  EXPECT_EQ(model->predict(many.features)->mean, alone->predict(many.features)->mean);
}

TEST(Transfer, AnUnfittedGlobalModelIsOurBug) {
  EXPECT_THROW(make_transfer(std::shared_ptr<CostModel>(make_gbt()), make_gbt()), InternalError);
}

}  // namespace
}  // namespace lathe
