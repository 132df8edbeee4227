#include "cost/feature_set.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace lathe {
namespace {

TEST(FeatureSet, CandidatesHaveOneRowOrSeveral) {
  FeatureSet set;
  EXPECT_EQ(set.size(), 0);
  set.add({.numbers = {1, 2}, .parents = {-1}});
  set.add({.numbers = {3, 4, 5, 6}, .count = 2, .parents = {-1, 0}});
  EXPECT_EQ(set.size(), 2);
  EXPECT_EQ(set.rows(), 3);
  EXPECT_EQ(set.columns, 2);
  EXPECT_EQ(set.offsets, (std::vector<int64_t>{0, 1, 3}));
  EXPECT_EQ(set.rows_of(1).numbers, (std::vector<float>{3, 4, 5, 6}));
  EXPECT_EQ(set.rows_of(1).count, 2);
  EXPECT_EQ(set.rows_of(1).parents, (std::vector<int>{-1, 0}));
}

TEST(FeatureSet, RowsOfOtherLengthsAreOurBug) {
  FeatureSet set;
  set.add_row(std::vector<float>{1, 2});
  EXPECT_THROW(set.add_row(std::vector<float>{1}), InternalError);
  EXPECT_THROW(set.add({.numbers = {1, 2, 3}, .count = 2}), InternalError);
}

TEST(FeatureSet, KindsHaveNames) {
  for (size_t i = 0; i < feature_kind_names().size(); ++i)
    EXPECT_EQ(parse_feature_kind(feature_kind_names()[i]), static_cast<FeatureKind>(i));
  EXPECT_EQ(parse_feature_kind("all"), std::nullopt);
}

}  // namespace
}  // namespace lathe
