// The template of depthwise convolutions: no channels are added up.
#include "space/templates/depthwise.h"

#include <gmock/gmock.h>

#include "space/templates/template_case.h"

namespace lathe::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kEach =
    R"("op":"depthwise_conv2d", "batch":1, "height":8, "width":8, "channels":16, "kernel":3, "stride":1,
       "padding":1)";
constexpr const char* kSeveral =
    R"("op":"depthwise_conv2d", "batch":2, "height":9, "width":7, "channels":4, "multiplier":3, "kernel":3,
       "stride":2, "padding":1)";
// Groups of one channel and one map.
constexpr const char* kGroups =
    R"("op":"conv2d", "batch":1, "height":6, "width":8, "in_channels":8, "out_channels":8, "kernel":3,
       "stride":1, "padding":1, "groups":8)";

TEST(DepthwiseTemplate, AsksForNoChannels) {
  EXPECT_THAT(knobs_of(task_of_case({kEach})),
              ElementsAre("O.split.y", "O.split.x", "O.split.f", "O.order", "O.annotate.inner",
                          "O.annotate.outer", "O.annotate.ky", "O.annotate.kx"));
  EXPECT_THAT(knobs_of(task_of_case({kSeveral})), Not(::testing::Contains("O.order")));
}

TEST(DepthwiseTemplate, MapsAreInBlocksWhereTheyAreInnermost) {
  EXPECT_THAT(
      text_with(task_of_case({kEach}), {{"O.split.f", {8}}}),
      AllOf(HasSubstr("layout=[0/8][1][2][3][0%8]\n"), HasSubstr("layout I.pad [0][1/8][2][3][1%8]\n")));
  EXPECT_THAT(text_with(task_of_case({kEach}), {{"O.split.f", {8}}, {"O.order", {1}}}),
              Not(HasSubstr("layout")));
}

TEST(DepthwiseTemplate, FitsGroupsOfOneChannel) {
  for (const char* workload : {kEach, kSeveral, kGroups})
    EXPECT_EQ(templates_of(task_of_case({workload})).sketches().front().name, "depthwise O");
}

TEST(DepthwiseTemplate, ProgramsAreRight) {
  for (const char* workload : {kEach, kSeveral, kGroups}) expect_case_is_right(workload, 12);
}

}  // namespace
}  // namespace lathe::testing
