#include "space/rules/decider.h"

#include <gtest/gtest.h>

#include "space/rules/rule_case.h"

namespace lathe::testing {
namespace {

RuleCase product_and_sum() {
  return RuleCase("P[i:8, j:12] = sum(r:4) A[i,r] * B[r,j]\nO[i:8, j:12] = P[i,j] + C[i,j]", {"B"}, 2);
}

// The first decision counts, and only where one is open: an output of a task with free layouts, an
// intermediate, but no constant.
TEST(Decider, ALayoutIsDecidedOnce) {
  const RuleCase c = product_and_sum();
  Chooser chooser;
  Decider decider = c.decider(chooser);
  const Tensor& p = c.dag().computes[0].output;
  const Layout turned = Layout::permuted(std::vector<int>{1, 0});
  decider.set_layout(p, turned);
  decider.set_layout(p, Layout::row_major(2));
  EXPECT_EQ(decider.layout_of(p), turned);
  for (const Tensor& input : c.dag().inputs) {
    decider.set_layout(input, turned);
    EXPECT_EQ(decider.layout_of(input) == turned, input->name != "B") << input->name;
  }
  EXPECT_EQ(text_of(decider.take_places()), "layout P [1][0]\nlayout A [1][0]\nlayout C [1][0]\n");
  EXPECT_TRUE(decider.take_places().empty()) << "they were taken";
}

TEST(Decider, ARowMajorLayoutIsNoStep) {
  const RuleCase c = product_and_sum();
  Chooser chooser;
  Decider decider = c.decider(chooser);
  decider.set_layout(c.dag().computes[0].output, Layout::row_major(2));
  EXPECT_TRUE(decider.take_places().empty());
  EXPECT_TRUE(decider.layouts.contains("P"));
}

// Two blocks that pack one tensor have a copy each; those of every call are shared out.
TEST(Decider, CopiesHaveNamesOfTheirOwn) {
  const RuleCase c = product_and_sum();
  Chooser chooser;
  Decider decider = c.decider(chooser);
  const Tensor& a = c.dag().inputs[0];
  const Layout panels = Layout::permuted(std::vector<int>{1, 0});
  EXPECT_EQ(decider.set_copy(a, /*is_constant=*/true, "P", panels), "A.pack");
  EXPECT_EQ(decider.set_copy(a, /*is_constant=*/false, "O", panels), "A.pack.O");
  const Places places = decider.take_places();
  EXPECT_EQ(c.written([&](Writer& writer) { write_places(writer, places); }),
            "cache_read P A A.pack at=prepare scope=workspace layout=[1][0]\n"
            "cache_read O A A.pack.O at=root scope=workspace layout=[1][0]\n"
            "fuse A.pack.O d0 d1\nparallel A.pack.O d0_d1\n");
}

TEST(Decider, AnIntermediateIsNeitherInputNorOutput) {
  const RuleCase c = product_and_sum();
  const Analysis analysis = c.analysis();
  EXPECT_TRUE(analysis.is_intermediate(c.dag().computes[0].output));
  EXPECT_FALSE(analysis.is_intermediate(c.dag().computes[1].output));
  EXPECT_FALSE(analysis.is_intermediate(c.dag().inputs[0]));
}

}  // namespace
}  // namespace lathe::testing
