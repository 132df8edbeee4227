#include "analysis/cost_constants.h"

#include <gtest/gtest.h>

#include <set>

namespace lathe {
namespace {

// No threshold without its row, and no row twice.
TEST(CostConstants, EachHasARow) {
  EXPECT_EQ(sizeof(CostConstants), kCostConstants.size() * sizeof(double));
  std::set<std::string_view> names;
  CostConstants marked;
  for (const CostConstant& constant : kCostConstants) {
    EXPECT_TRUE(names.insert(constant.name).second) << constant.name;
    EXPECT_NE(marked.*constant.value, -1) << constant.name << " has the place of another";
    marked.*constant.value = -1;
  }
}

// One whose value were its neutral one would do nothing.
TEST(CostConstants, NoneIsAtItsNeutralValue) {
  for (const CostConstant& constant : kCostConstants) {
    EXPECT_NE(CostConstants().*constant.value, constant.neutral) << constant.name;
    EXPECT_FALSE(constant.unit.empty() || constant.meaning.empty() || constant.source.empty())
        << constant.name;
  }
}

TEST(CostConstants, CountsAreWhole) {
  EXPECT_EQ(whole(13), 13);
  EXPECT_GT(whole(kNoLimit), int64_t{1} << 40);
}

}  // namespace
}  // namespace lathe
