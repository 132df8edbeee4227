#include "space/rules/layouts.h"

#include <gtest/gtest.h>

#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

Tensor image() { return parse_dag("O[n:2, h:7, w:9, c:24] = I[n,h,w,c]").value().computes[0].output; }

std::string text_of(const Layout& layout) { return to_string(Trace{LayoutStep{"T", layout}}); }

TEST(Layouts, DimensionsGoInnermost) {
  EXPECT_EQ(text_of(with_last(image(), 1)), "layout T [0][2][3][1]\n");
  EXPECT_EQ(text_of(with_innermost(image(), {{1, 0}, {2, 0}})), "layout T [0][3][1][2]\n");
  EXPECT_EQ(text_of(with_innermost(image(), {{3, 8}})), "layout T [0][1][2][3/8][3%8]\n");
  EXPECT_EQ(text_of(with_innermost(image(), {{3, 24}})), "layout T [0][1][2][3]\n")
      << "one block of all is none";
}

TEST(Layouts, RowsGoIntoBlocks) {
  const Layout blocked = with_innermost(image(), {{3, 8}});
  EXPECT_EQ(text_of(with_rows_in_blocks(blocked, 1)), "layout T [0][3/8][1][2][3%8]\n");
  const Layout plain = with_last(image(), 3);
  EXPECT_EQ(with_rows_in_blocks(plain, 1), plain);
}

// The vectors' axis is innermost in what is written, and in what the epilogue reads beside it.
TEST(Layouts, FollowTheVectors) {
  const auto places = [](const char* text, int64_t block) {
    const RuleCase c(text, {"B"});
    Chooser chooser;
    Decider decider = c.decider(chooser);
    decide_vector_layouts(decider, c.stage(0), 0, block);
    return to_string(decider.take_places());
  };
  EXPECT_EQ(places("P[i:16, j:12] = sum(r:4) A[i,r] * B[r,j]", 0), "layout P [1][0]\n");
  EXPECT_EQ(places("P[i:16, j:12] = sum(r:4) A[i,r] * B[r,j]", 8), "layout P [0/8][1][0%8]\n");
  EXPECT_EQ(places("P[i:16, j:12] = sum(r:4) A[i,r] * B[r,j]\nO[i:16, j:12] = P[i,j] + C[j,i]", 0),
            "layout O [1][0]\n")
      << "C has i last already";
}

}  // namespace
}  // namespace lathe::testing
