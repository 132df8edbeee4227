// The knobs of a template: their names, their kinds, and that none of them prefers anything.
#include "space/templates/knobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lathe {
namespace {

using ::testing::ElementsAre;

TEST(Knobs, AreNamedByTheirKind) {
  Chooser declaring;
  Knobs knobs(declaring, "C");
  EXPECT_THAT(knobs.split("x", 12, {.parts = 3}), ElementsAre(1, 1));
  EXPECT_EQ(knobs.order(4), 0);
  EXPECT_EQ(knobs.annotate("inner", {LoopKind::serial, LoopKind::vectorized}), LoopKind::serial);
  EXPECT_FALSE(knobs.choice("pack"));
  std::vector<std::string> names;
  for (const Parameter& parameter : declaring.domain().parameters) names.push_back(parameter.name);
  EXPECT_THAT(names, ElementsAre("C.split.x", "C.order", "C.annotate.inner", "C.choice.pack"));
  EXPECT_THAT(declaring.preferred(), ElementsAre(1, 1, 0, 0, 0));
}

// 12 in three parts whose product it is.
TEST(Knobs, SplitsDivideTheExtent) {
  Chooser declaring;
  Knobs(declaring, "C").split("x", 12, {.parts = 3});
  EXPECT_EQ(declaring.domain().size(), 18);
  for (const std::vector<int64_t>& factors : all_points(declaring.domain()))
    EXPECT_EQ(12 % (factors[0] * factors[1]), 0);
}

TEST(Knobs, SplitsMayBeLimited) {
  Chooser declaring;
  Knobs knobs(declaring, "C");
  knobs.split("x", 1024, {.largest_innermost = 16});
  EXPECT_EQ(declaring.domain().size(), 5);
  knobs.split("y", 12, {.allowed = {1, 3}});
  EXPECT_EQ(declaring.domain().size(), 5 * 2);
  // Without a limit the whole axis may be one tile.
  knobs.split("z", 128);
  EXPECT_EQ(declaring.domain().size(), 5 * 2 * 8);
}

TEST(Knobs, AnswersAreGivenByName) {
  Chooser declaring;
  const auto ask = [](Chooser& chooser) {
    Knobs knobs(chooser, "C");
    const int64_t order = knobs.order(3);
    return std::pair(order, knobs.annotate("inner", {LoopKind::serial, LoopKind::unrolled}));
  };
  ask(declaring);
  const std::vector<int64_t> integers = {2, 1};
  Chooser replaying(declaring.domain(), integers);
  EXPECT_EQ(ask(replaying), std::pair(int64_t{2}, LoopKind::unrolled));
}

}  // namespace
}  // namespace lathe
