#include "artifact/copy_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text_cursor.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;

std::vector<LayoutCopy> plan(const std::string& layout, const std::vector<int64_t>& shape) {
  TextCursor cursor(layout, "layout");
  return copy_plan(parse_layout(cursor).value(), shape);
}

TEST(CopyPlan, RowMajorIsOneRun) {
  EXPECT_THAT(plan("[0][1][2]", {2, 3, 5}), ElementsAre(LayoutCopy{0, 0, {{30, 1, 1}, {1, 0, 0}}}));
  EXPECT_THAT(plan("[]", {}), ElementsAre(LayoutCopy{0, 0, {{1, 0, 0}, {1, 0, 0}}}));
}

TEST(CopyPlan, ChannelsLastIsOneTranspositionAnImage) {
  EXPECT_THAT(plan("[0][2][3][1]", {2, 3, 5, 7}),
              ElementsAre(LayoutCopy{0, 0, {{35, 1, 3}, {3, 35, 1}, {2, 105, 105}}}));
}

// 21 channels are two blocks of eight and five more.
TEST(CopyPlan, ABlockThatIsNotFullIsACopyOfItsOwn) {
  EXPECT_THAT(plan("[1/8][0][1%8]", {4, 21}),
              ElementsAre(LayoutCopy{0, 0, {{8, 1, 1}, {4, 21, 8}, {2, 8, 32}}},
                          LayoutCopy{16, 64, {{5, 1, 1}, {4, 21, 8}}}));
}

TEST(CopyPlan, APartOfOneElementMovesNothing) {
  EXPECT_EQ(plan("[1%8][0][1/8%1][1/8]", {2, 10}), plan("[1%8][0][1/8]", {2, 10}));
}

TEST(CopyPlan, ExtraElementsKeepRowsApart) {
  EXPECT_THAT(plan("[0][1+3]", {4, 5}), ElementsAre(LayoutCopy{0, 0, {{5, 1, 1}, {4, 5, 8}}}));
}

}  // namespace
}  // namespace lathe
