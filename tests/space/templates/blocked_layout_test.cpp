// Layouts in blocks, and where an operand comes to lie in one.
#include "space/templates/blocked_layout.h"

#include <gtest/gtest.h>

#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

Layout blocked(int64_t block) {
  const Tensor tensor("I", {1, 16, 5}, DType::f32);
  BlockedLayout layout(tensor);
  layout.add(0);
  layout.add_blocks(1, block);
  layout.add(2);
  layout.add_places(1, block);
  EXPECT_TRUE(verify(layout.layout(), tensor->shape));
  return layout.layout();
}

TEST(BlockedLayout, BlocksOfOneAndASingleBlockAreNone) {
  EXPECT_EQ(to_string(blocked(4)), "[0][1/4][2][1%4]");
  EXPECT_EQ(to_string(blocked(1)), "[0][1][2]");
  EXPECT_EQ(to_string(blocked(16)), "[0][2][1]");
}

// What the first operand of C, which is A, is placed by.
std::string placed(const std::string& text, const std::vector<std::string>& constants, bool free_layouts,
                   const Layout& layout) {
  RuleCase one(text, constants);
  for (Argument& argument : one.task().arguments) argument.layout_is_free = free_layouts;
  Chooser chooser;
  Decider decider = one.decider(chooser);
  const Stage& stage = one.stages().stages.back();
  place_operand(decider, stage.operands.front(), "C", layout);
  return text_of(decider.take_places());
}

TEST(BlockedLayout, AnOperandIsCopiedWhereItsLayoutIsGiven) {
  const char* product = "C[i:8, j:8] = sum(r:8) A[i,r] * B[r,j]";
  const Layout columns = Layout::permuted(std::vector<int>{1, 0});
  EXPECT_EQ(placed(product, {}, true, columns), "layout A [1][0]\n");
  EXPECT_EQ(placed(product, {}, false, columns),
            "cache_read C A A.pack at=root scope=workspace layout=[1][0]\n");
  EXPECT_EQ(placed(product, {"A"}, false, columns),
            "cache_read C A A.pack at=prepare scope=workspace layout=[1][0]\n");
}

TEST(BlockedLayout, AnOperandThatLiesSoStaysWhereItIs) {
  const char* product = "C[i:8, j:8] = sum(r:8) A[i,r] * B[r,j]";
  EXPECT_EQ(placed(product, {}, false, Layout::row_major(2)), "");
  EXPECT_EQ(placed(product, {"A"}, false, Layout::row_major(2)), "");
}

TEST(BlockedLayout, AnIntermediateIsMadeAsItIsRead) {
  EXPECT_EQ(placed("A[i:8, r:8] = exp(X[i,r])\nC[i:8, j:8] = sum(r:8) A[i,r] * B[r,j]", {}, false,
                   Layout::permuted(std::vector<int>{1, 0})),
            "layout A [1][0]\n");
}

}  // namespace
}  // namespace lathe::testing
