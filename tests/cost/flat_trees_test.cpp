#include "cost/flat_trees.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.h"
#include "cost/boosting.h"

namespace lathe {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

// One tree: below 2 of the first number 10, else by the second one, of which none is as below 5.
FlatTrees small() {
  return FlatTrees::make(2, {{0, 2, 1, 2, false}, {-1, 10}, {1, 5, 3, 4, true}, {-1, 20}, {-1, 30}}, {0})
      .value();
}

FeatureSet rows(const std::vector<std::vector<float>>& all) {
  FeatureSet set;
  for (const std::vector<float>& row : all) set.add_row(row);
  return set;
}

TEST(FlatTrees, AnswersLeadToALeaf) {
  EXPECT_EQ(small().predict(rows({{1, 0}, {2, 4}, {2, 5}, {kMissing, kMissing}})),
            (std::vector<float>{10, 20, 30, 20}));
  FeatureSet two;
  two.add({.numbers = {1, 0, 2, 5}, .count = 2});
  EXPECT_EQ(small().predict(two), (std::vector<float>{40}));
  EXPECT_TRUE(small().predict({}).empty());
}

TEST(FlatTrees, TrainedTreesPredictWhatTheirLibraryDoes) {
  Rng rng(4);
  FeatureSet set;
  std::vector<float> targets;
  for (int i = 0; i < 400; ++i) {
    std::vector<float> row;
    for (int k = 0; k < 6; ++k) row.push_back(rng.chance(0.1) ? kMissing : static_cast<float>(rng.normal()));
    targets.push_back(std::isnan(row[0]) ? 3 : row[0] * row[0] + (std::isnan(row[1]) ? 0 : row[1]));
    set.add_row(std::move(row));
  }
  std::vector<float> expected;  // by the library, before the last round
  const Objective squares = [&](std::span<const float> predictions, std::span<float> gradient,
                                std::span<float> hessian) {
    expected.assign(predictions.begin(), predictions.end());
    for (size_t i = 0; i < predictions.size(); ++i) {
      gradient[i] = predictions[i] - targets[i];
      hessian[i] = 1;
    }
  };
  ASSERT_TRUE(train_trees(set, squares, {.rounds = 41}));
  const std::vector<float> of_40_trees = expected;
  const FlatTrees flat = train_trees(set, squares, {.rounds = 40}).value();
  EXPECT_EQ(flat.size(), 40U);
  const std::vector<float> given = flat.predict(set);
  const std::vector<float> kept = FlatTrees::from_bytes(flat.bytes(), "m")->predict(set);
  for (size_t i = 0; i < given.size(); ++i) EXPECT_NEAR(given[i], of_40_trees[i], 1e-5) << i;
  EXPECT_EQ(kept, given);
}

TEST(FlatTrees, DamagedBytesAreASentence) {
  const std::string bytes = small().bytes();
  EXPECT_EQ(FlatTrees::from_bytes(bytes, "m")->bytes(), bytes);
  const auto fault = [](const std::string& text) { return FlatTrees::from_bytes(text, "m").error().message; };
  EXPECT_EQ(fault("nothing"), "these are no trees of this version");
  EXPECT_EQ(fault(bytes.substr(0, 20)), "it ends within its header");
  EXPECT_EQ(fault(bytes.substr(0, bytes.size() - 1)),
            "its trees need 89 bytes behind the header, and there are 88");
  std::string looped = bytes;
  looped[14 + 24 + 8] = 0;  // the first node's left child is itself
  EXPECT_EQ(fault(looped), "a child of a tree does not stand behind its parent");
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x55);
    const auto read = FlatTrees::from_bytes(changed, "m");
    if (read && read->columns() == 2) read->predict(rows({{1, 0}, {2, 4}}));
  }
}

TEST(FlatTrees, WhatIsNoTreeIsAnError) {
  EXPECT_FALSE(FlatTrees::make(1, {{0, 2, 1, 1}}, {0}));
  EXPECT_FALSE(FlatTrees::make(1, {{3, 2, 1, 2}, {-1, 1}, {-1, 2}}, {0}));
  EXPECT_FALSE(FlatTrees::make(1, {{-1, INFINITY}}, {0}));
  EXPECT_FALSE(FlatTrees::make(1, {{-1, 1}}, {1}));
  EXPECT_TRUE(FlatTrees::make(1, {{-1, 1}}, {0}));
}

}  // namespace
}  // namespace lathe
