#include "search/parts/direction_values.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

TEST(DirectionValues, TheTargetOfADirectionIsThatOfTheSpecification) {
  EXPECT_NEAR(direction_target(0.9, 0.4, (120.0 - 100.0) / 100.0), 0.56, 1e-12);
}

// One sketch of a line: the direction + is always worth something, - never.
Domain line() { return {{{"at", OrderedParameter{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}}}}; }

TEST(DirectionValues, TheNetworkLearnsWhichDirectionIsWorthMore) {
  DirectionValues values(line(), {.discount = 0, .passes = 100, .rate = 1}, Rng(1));
  ASSERT_EQ(values.directions().size(), 2U);
  const size_t up = values.directions()[0].raised == 0 ? 0 : 1;
  EXPECT_EQ(values.train(), 0);
  for (int64_t at = 1; at < 9; ++at) {
    values.remember({{at}, up, {at + 1}, 0.5});
    values.remember({{at}, 1 - up, {at - 1}, -0.5});
  }
  double loss = 1;
  for (int i = 0; i < 10; ++i) loss = values.train();
  EXPECT_LT(loss, 0.01);
  for (int64_t at = 1; at < 9; ++at) {
    EXPECT_NEAR(static_cast<double>(values.of({at})[up]), 0.5, 0.2) << at;
    EXPECT_NEAR(static_cast<double>(values.of({at})[1 - up]), -0.5, 0.2) << at;
  }
}

TEST(DirectionValues, OfTheMovesTheNewestAreRemembered) {
  DirectionValues values(line(), {.discount = 0, .passes = 200, .memory = 2, .rate = 1}, Rng(1));
  for (int i = 0; i < 9; ++i) values.remember({{1}, 0, {2}, 9.0});
  values.remember({{1}, 0, {2}, 0.25});
  values.remember({{2}, 0, {3}, 0.25});
  for (int i = 0; i < 5; ++i) values.train();
  EXPECT_NEAR(static_cast<double>(values.of({1})[0]), 0.25, 0.1);
}

}  // namespace
}  // namespace lathe
