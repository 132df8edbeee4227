#include "search/diversity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace lathe {
namespace {

using ::testing::ElementsAre;

TEST(Diversity, GainsOfTheSpecification) {
  DiverseSet set;
  set.add({0, {1, 1}});
  EXPECT_DOUBLE_EQ(set.gain({0, {1, 2}}, 0.3, 1.0), 0.7);
  EXPECT_DOUBLE_EQ(set.gain({0, {2, 2}}, 1.0, 1.0), 1.0);
}

TEST(Diversity, ComponentsOfDifferentSketchesDiffer) {
  DiverseSet set;
  set.add({0, {1, 1}});
  EXPECT_DOUBLE_EQ(set.gain({1, {1, 1}}, 0.0, 1.0), 2.0);
}

TEST(Diversity, WithoutWeightTheCheapestComeFirst) {
  const std::vector<Point> points{{0, {1}}, {0, {2}}, {0, {3}}, {0, {4}}};
  const double failed = std::numeric_limits<double>::infinity();
  DiverseSet set;
  EXPECT_THAT(choose_diverse(points, std::vector<double>{5, 2, failed, 3}, 4, 0.0, set),
              ElementsAre(1, 3, 0));
}

TEST(Diversity, WithWeightNewValuesComeBeforeSlightlyCheaperOnes) {
  const std::vector<Point> points{{0, {1, 1}}, {0, {1, 1}}, {0, {2, 2}}, {0, {9, 9}}};
  DiverseSet set;
  EXPECT_THAT(choose_diverse(points, std::vector<double>{0, 1, 2, 10}, 2, 0.5, set), ElementsAre(0, 2));
}

}  // namespace
}  // namespace lathe
