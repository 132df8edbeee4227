// Layouts that are open are chosen so that vectors move through contiguous memory, and the traces that follow
// compute the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewrite/same_result.h"
#include "space/all.h"

namespace lathe::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string preferred_text(const Task& task) {
  const Result<Space> space = derive_space(task);
  EXPECT_TRUE(space) << space.error().to_string();
  return to_string(space->trace(space->preferred_points().front()).value());
}

void expect_samples_same(const Task& task, int count) {
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space) << space.error().to_string();
  for (const Point& point : space->preferred_points()) expect_same(task, space->trace(point).value());
  Rng rng(7);
  for (int i = 0; i < count; ++i) {
    const auto s = static_cast<size_t>(rng.below(space->sketches().size()));
    const Result<Trace> trace = space->trace({static_cast<int>(s), sample(space->sketches()[s].domain, rng)});
    if (trace) expect_same(task, *trace);
  }
}

TEST(LayoutChoice, BlocksThatAreReadTurnedHaveTheirQuotientsLast) {
  const Task task =
      task_of_workload(R"({"name":"c", "op":"block_circulant_matrix", "rows":64, "cols":256, "block":8})");
  EXPECT_THAT(preferred_text(task),
              AllOf(HasSubstr("layout O [1][0%8][0/8]"), HasSubstr("vectorize O i.0.2"),
                    HasSubstr("layout A [1][0%8][0/8]"), HasSubstr("vectorize O.mean i.2")));
  expect_samples_same(
      task_of_workload(R"({"name":"c", "op":"block_circulant_matrix", "rows":24, "cols":36, "block":4})"),
      12);
  // Blocks that leave a rest.
  expect_samples_same(
      task_of_workload(R"({"name":"c", "op":"block_circulant_matrix", "rows":14, "cols":21, "block":4})"),
      12);
}

TEST(LayoutChoice, WhatChoosesPlacesIsOutermostAndPaddingIsStoredPlaneByPlane) {
  const std::string workload = R"({"name":"s", "op":"shift_conv2d", "batch":2, "height":7, "width":19,
                                   "channels":5, "kernel":3})";
  const Task task = task_of_workload(workload);
  EXPECT_THAT(preferred_text(task),
              AllOf(HasSubstr("layout O [3][0][1][2]"), HasSubstr("compute_at I.pad O c scope=thread"),
                    HasSubstr("vectorize O w.2"), Not(HasSubstr("inline I.pad"))));
  Task two_cores = task;
  two_cores.target.cpu().cores = 2;
  expect_samples_same(task, 12);
  expect_samples_same(two_cores, 12);
}

// Channels of an image beyond the second-level cache lie in blocks, over which the sum has a loop of its own;
// blocks that would lie whole pages apart have a row between them.
TEST(LayoutChoice, ChannelsOfALargeImageLieInBlocks) {
  const auto convolution = [](int size, int channels) {
    return task_of_workload(
        R"({"name":"c", "op":"conv2d", "batch":1, "out_channels":24, "kernel":1, "stride":1, "padding":0,
                       "height":)" +
        std::to_string(size) + R"(, "width":)" + std::to_string(size) + R"(, "in_channels":)" +
        std::to_string(channels) + "}");
  };
  const Task large = convolution(224, 64);
  const std::string block = std::to_string(large.target.cpu().lanes(4));
  EXPECT_THAT(preferred_text(large),
              AllOf(HasSubstr("layout I [0][1/" + block + "][2+1][3][1%" + block + "]"),
                    HasSubstr("split O c [" + block + "]")));
  EXPECT_THAT(preferred_text(convolution(8, 64)), Not(HasSubstr("split O c")));
  // More blocks than the processor follows.
  EXPECT_THAT(preferred_text(convolution(224, 256)), Not(HasSubstr("split O c")));
  expect_samples_same(convolution(6, 32), 24);
  expect_samples_same(convolution(5, 20), 12);
}

// Rows of a tile that meet in one set of the first cache lie a line further apart: those of an argument,
// whose layout is open.
TEST(LayoutChoice, RowsWholePagesApartAreSpreadOverTheSets) {
  const auto product = [](int depth) {
    return task_of_workload(R"({"name":"m", "op":"matmul", "batch":1, "m":16, "n":32, "k":)" +
                            std::to_string(depth) + "}");
  };
  EXPECT_THAT(preferred_text(product(1024)), HasSubstr("layout A [0][1+16]"));
  EXPECT_THAT(preferred_text(product(1000)), Not(HasSubstr("layout A")));
  expect_samples_same(product(1024), 12);
}

// A copy of short rows runs over several of them at once.
TEST(LayoutChoice, ShortRowsOfACopyRunAsOne) {
  const Task task = task_of_workload(R"({"name":"c", "op":"expression",
      "text":"O[y:6, i:8, j:4] = A[y, i, j] * B[y, i, j]"})");
  EXPECT_THAT(preferred_text(task), HasSubstr("fuse O i j"));
  expect_samples_same(task, 12);
}

}  // namespace
}  // namespace lathe::testing
