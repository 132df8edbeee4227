// The template of convolutions: what it asks, how its operands lie, and that its programs are right.
#include "space/templates/convolution.h"

#include <gmock/gmock.h>

#include "space/templates/template_case.h"

namespace lathe::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kDense =
    R"("op":"conv2d", "batch":1, "height":8, "width":12, "in_channels":6, "out_channels":16, "kernel":3,
       "stride":1, "padding":1)";
constexpr const char* kPoint =
    R"("op":"conv2d", "batch":1, "height":6, "width":6, "in_channels":8, "out_channels":12, "kernel":1,
       "stride":1, "padding":0)";

TEST(ConvolutionTemplate, AsksForTheKnobsOfThePaper) {
  EXPECT_THAT(knobs_of(task_of_case({kDense})),
              ElementsAre("O.split.y", "O.split.x", "O.split.f", "O.split.c", "O.order", "O.annotate.inner",
                          "O.annotate.outer", "O.annotate.ky", "O.annotate.kx"));
  // 4 divisors of 8, 6 of 12, 5 of 16, 4 of 6; two orders; three ways of the innermost loop, two of the
  // others and of each of the kernel's.
  EXPECT_EQ(templates_of(task_of_case({kDense})).size(), 4 * 6 * 5 * 4 * 2 * 3 * 2 * 2 * 2);
}

// Weights as the loops read them, and the padded image in blocks of as many channels.
TEST(ConvolutionTemplate, PacksWeightsAndData) {
  EXPECT_THAT(text_with(task_of_case({kDense}), {{"O.split.f", {8}}, {"O.split.c", {2}}}),
              AllOf(HasSubstr("cache_read O W W.pack at=prepare scope=workspace "
                              "layout=[0/8][1/2][2][3][1%2][0%8]\n"),
                    HasSubstr("layout I.pad [0][1/2][2][3][1%2]\n")));
  EXPECT_THAT(text_with(task_of_case({kDense}), {{"O.order", {1}}, {"O.split.c", {2}}}),
              HasSubstr("layout I.pad [0][1/2][2][1%2][3]\n"));
}

TEST(ConvolutionTemplate, DataThatNothingPadsIsCopiedWhereItsLayoutIsGiven) {
  const Choices blocks = {{"O.split.c", {4}}};
  EXPECT_THAT(text_with(task_of_case({kPoint}), blocks),
              HasSubstr("cache_read O I I.pack at=root scope=workspace layout=[0][1/4][2][3][1%4]\n"));
  EXPECT_THAT(text_with(task_of_case({kPoint, "x86-avx2", 1, true}), blocks),
              HasSubstr("layout I [0][1/4][2][3][1%4]\n"));
  EXPECT_THAT(text_with(task_of_case({kPoint}), {}), Not(HasSubstr("I.pack")));
}

TEST(ConvolutionTemplate, ResultsLieInTheTilesBlocksWhereTheirLayoutIsOpen) {
  const Choices maps = {{"O.split.f", {4}}};
  EXPECT_THAT(text_with(task_of_case({kPoint, "x86-avx2", 1, true}), maps),
              HasSubstr("layout O [0][1/4][2][3][1%4]\n"));
  EXPECT_THAT(text_with(task_of_case({kPoint}), maps), Not(HasSubstr("layout O ")));
}

TEST(ConvolutionTemplate, TheTileIsAMicroKernel) {
  EXPECT_THAT(text_with(task_of_case({kDense}), {{"O.split.f", {16}},
                                                 {"O.split.x", {6}},
                                                 {"O.annotate.inner", {2}},
                                                 {"O.annotate.outer", {1}},
                                                 {"O.annotate.kx", {1}}}),
              HasSubstr("split O c [1]\nsplit O y [1]\nsplit O x [6]\nsplit O f [2 8]\n"
                        "reorder O n f.0 y.0 x.0 c.0 ky kx c.1 y.1 x.1 f.1 f.2\nunroll O kx\nunroll O y.1\n"
                        "unroll O x.1\nunroll O f.1\nvectorize O f.2\ncache_write O O.acc at=x.0 "
                        "scope=registers\n"));
}

// Of a kernel of seven by seven the inner loop alone may be unrolled.
TEST(ConvolutionTemplate, WideKernelsKeepTheirOuterLoop) {
  const auto knobs =
      knobs_of(task_of_case({R"("op":"conv2d", "batch":1, "height":8, "width":8, "in_channels":3,
                                            "out_channels":4, "kernel":7, "stride":2, "padding":3)"}));
  EXPECT_THAT(knobs, ::testing::Contains("O.annotate.kx"));
  EXPECT_THAT(knobs, Not(::testing::Contains("O.annotate.ky")));
}

TEST(ConvolutionTemplate, ProgramsAreRight) {
  expect_case_is_right(kDense, 12);
  expect_case_is_right(kPoint, 12);
  for (const char* workload :
       {R"("op":"conv2d", "batch":2, "height":9, "width":7, "in_channels":4, "out_channels":6, "kernel":3,
           "stride":2, "padding":1)",
        R"("op":"conv2d", "batch":1, "height":8, "width":8, "in_channels":4, "out_channels":6, "kernel":3,
           "stride":1, "padding":2, "dilation":2)",
        R"("op":"conv2d_bn_relu", "batch":1, "height":6, "width":7, "in_channels":6, "out_channels":12,
           "kernel":3, "stride":1, "padding":1)",
        R"("op":"conv1d", "batch":2, "length":16, "in_channels":6, "out_channels":10, "kernel":3, "stride":1,
           "padding":1)",
        R"("op":"conv3d", "batch":1, "depth":4, "height":4, "width":6, "in_channels":3, "out_channels":8,
           "kernel":3, "stride":1, "padding":1)"})
    expect_case_is_right(workload, 8);
}

// Expand, pad, convolve with the flipped kernel.
TEST(ConvolutionTemplate, TransposedProgramsAreRight) {
  for (const char* workload :
       {R"("op":"conv1d_transpose", "batch":1, "length":7, "in_channels":4, "out_channels":6, "kernel":4,
           "stride":2, "padding":1)",
        R"("op":"conv2d_transpose", "batch":1, "height":4, "width":3, "in_channels":4, "out_channels":6,
           "kernel":4, "stride":2, "padding":1)",
        R"("op":"conv3d_transpose", "batch":1, "depth":3, "height":2, "width":4, "in_channels":4,
           "out_channels":5, "kernel":3, "stride":2, "padding":1)"})
    expect_case_is_right(workload, 8);
}

}  // namespace
}  // namespace lathe::testing
