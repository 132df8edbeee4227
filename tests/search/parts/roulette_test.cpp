#include "search/parts/roulette.h"

#include <gtest/gtest.h>

#include <array>

namespace lathe {
namespace {

std::array<int, 3> counts(const std::vector<double>& weights) {
  Rng rng(1);
  const Roulette wheel(weights);
  std::array<int, 3> drawn{};
  for (int i = 0; i < 4000; ++i) ++drawn[wheel.spin(rng)];
  return drawn;
}

TEST(Roulette, DrawsInProportionToTheWeights) {
  const auto drawn = counts({1, -5, 3});
  EXPECT_NEAR(drawn[0], 1000, 120);
  EXPECT_EQ(drawn[1], 0);
}

TEST(Roulette, WithoutAnyWeightAllAreAsLikely) {
  for (const int each : counts({0, 0, 0})) EXPECT_NEAR(each, 1333, 150);
}

}  // namespace
}  // namespace lathe
