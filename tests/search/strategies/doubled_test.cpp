#include "search/strategies/doubled.h"

#include <gtest/gtest.h>

#include "search/landscape.h"
#include "search/strategies/random.h"

namespace lathe {
namespace {

TEST(Doubled, IsTheSameSearchOfTwoPointsATrial) {
  const auto twice = make_random_x2(Landscape::space(), 3);
  const auto once = make_random(Landscape::space(), 3);
  EXPECT_EQ(twice->measured_per_trial(), 2);
  EXPECT_EQ(once->measured_per_trial(), 1);
  EXPECT_EQ(twice->propose(8, {}).points, once->propose(8, {}).points);
  EXPECT_EQ(make_genetic_x2(Landscape::space(), 3)->measured_per_trial(), 2);
}

}  // namespace
}  // namespace lathe
