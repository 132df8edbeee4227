// The template of grouped convolutions: its tiles of maps stay within a group.
#include "space/templates/grouped.h"

#include <gmock/gmock.h>

#include "space/templates/template_case.h"

namespace lathe::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kGrouped =
    R"("op":"conv2d", "batch":1, "height":8, "width":6, "in_channels":8, "out_channels":24, "kernel":3,
       "stride":1, "padding":1, "groups":2)";

std::string sketch_name(const Task& task) { return templates_of(task).sketches().front().name; }

TEST(GroupedTemplate, IsFoundByWhatTheDataIsReadBy) {
  EXPECT_EQ(sketch_name(task_of_case({kGrouped})), "grouped O");
  EXPECT_EQ(
      sketch_name(task_of_formula("O[f:12, x:8] = sum(c:4, q:3) I[c + 4*(f/4), x + q] * W[f, c, q]", {"W"})),
      "grouped O");
}

// Of 24 maps twelve belong to a group: a tile has one of their six divisors.
TEST(GroupedTemplate, TilesStayWithinAGroup) {
  const Space space = templates_of(task_of_case({kGrouped}));
  std::set<int64_t> tiles;
  const Domain& domain = space.sketches().front().domain;
  Rng rng(1);
  for (int draw = 0; draw < 200; ++draw)
    tiles.insert(choices_of(domain, sample(domain, rng)).at("O.split.f").front());
  EXPECT_THAT(tiles, ::testing::ElementsAre(1, 2, 3, 4, 6, 12));
}

TEST(GroupedTemplate, BlocksOfChannelsAreThoseOfAGroup) {
  EXPECT_THAT(
      text_with(task_of_case({kGrouped}), {{"O.split.f", {12}}, {"O.split.c", {4}}}),
      AllOf(HasSubstr("layout=[0/12][2][3][1][0%12]\n"), HasSubstr("layout I.pad [0][1/4][2][3][1%4]\n")));
}

TEST(GroupedTemplate, ProgramsAreRight) {
  expect_case_is_right(kGrouped, 12);
  expect_case_is_right(R"("op":"conv1d", "batch":3, "length":11, "in_channels":6, "out_channels":10,
                          "kernel":3, "stride":1, "padding":2, "dilation":2, "groups":2)",
                       8);
  expect_case_is_right(R"("op":"conv2d_bn_relu", "batch":1, "height":8, "width":8, "in_channels":4,
                          "out_channels":6, "kernel":3, "stride":1, "padding":2, "dilation":2, "groups":2)",
                       8);
}

}  // namespace
}  // namespace lathe::testing
