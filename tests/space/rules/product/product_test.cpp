// Products of a matrix and a vector, and operands whose layout is open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expr/parse.h"
#include "rewrite/same_result.h"
#include "space/all.h"
#include "space/rules/product/register_tile.h"
#include "target/all.h"

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

std::string text_of_sketch(const Task& task, const std::string& name) {
  const Result<Space> space = derive_space(task);
  EXPECT_TRUE(space) << space.error().to_string();
  for (const Point& point : space->preferred_points()) {
    if (space->sketches()[static_cast<size_t>(point.sketch)].name == name)
      return to_string(space->trace(point).value());
  }
  return "no such sketch";
}

TEST(ProductRule, AMatrixTimesAVectorReadsSeveralPanelsAtOnce) {
  const Task task = task_of_workload(R"({"name":"g", "op":"gemv", "m":512, "k":64})");
  EXPECT_THAT(preferred_text(task),
              AllOf(HasSubstr("layout=[0/16][1][0%16]"), HasSubstr("split y i [1 8 8]")));
  for (const int m : {512, 100, 9}) {
    const Task small =
        task_of_workload(R"({"name":"g", "op":"gemv", "k":13, "m":)" + std::to_string(m) + "}");
    const Result<Space> space = derive_space(small);
    ASSERT_TRUE(space);
    for (const Point& point : space->preferred_points()) expect_same(small, space->trace(point).value());
  }
}

TEST(ProductRule, StreamsDivideThePanels) {
  for (int64_t vectors = 1; vectors < 200; ++vectors) {
    const RegisterTile tile = preferred_streams(vectors);
    EXPECT_EQ((vectors + tile.vectors - 1) / tile.vectors % tile.streams, 0) << vectors;
  }
}

TEST(ProductRule, AnOpenOperandComesInPanels) {
  const Task task = task_of_workload(R"({"name":"m", "op":"matmul", "batch":3, "m":70, "n":24, "k":11})");
  EXPECT_THAT(preferred_text(task), AllOf(HasSubstr("layout B [0][2/"), Not(HasSubstr("cache_read C B"))));
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space);
  for (const Point& point : space->preferred_points()) expect_same(task, space->trace(point).value());
}

// Panels that follow each other along another axis than the vectors' are fetched in that order.
TEST(ProductRule, TheNextPanelIsThatOfTheInnermostLoopThatMoves) {
  const Task task = task_of_workload(R"({"name":"b", "op":"bilinear", "batch":32, "out_features":512,
                                "in1_features":1024, "in2_features":32})");
  EXPECT_THAT(preferred_text(task), HasSubstr("prefetch O.F W.pack s.0 distance=1"));
}

// Where a condition stands before the product and not before one of its factors.
TEST(ProductRule, AProductUnderAConditionIsTiledToo) {
  Rng rng(7);
  for (const char* text : {"C[i:30, j:20] = sum(r:19) select(i < 21, A[i, r] * B[r, j], 0.0)",
                           "C[i:20, j:20] = sum(r:9) select(j <= i, A[i, r] * B[j, r], 0.0)",
                           "C[i:20, j:20] = sum(r:20) select(r <= i, A[i, r] * B[r, j], 0.0)",
                           "C[i:20, j:20] = sum(r:9) select(A[i, r] < 0.5, A[i, r] * B[j, r], 0.0)"}) {
    SCOPED_TRACE(text);
    const Task task =
        make_task("task", parse_dag(text).value(), generic_target("x86-avx2"), {"B"}, true).value();
    const Result<Space> space = derive_space(task);
    ASSERT_TRUE(space) << space.error().to_string();
    EXPECT_THAT(preferred_text(task), HasSubstr("cache_read C B B.pack"));
    for (int sketch = 0; sketch < static_cast<int>(space->sketches().size()); ++sketch) {
      for (int i = 0; i < 5; ++i) {
        const Domain& domain = space->sketches()[static_cast<size_t>(sketch)].domain;
        const Result<Trace> trace = space->trace({sketch, sample(domain, rng)});
        if (trace) expect_same(task, *trace);
      }
    }
  }
}

// Weights that no cache near holds are fetched a panel ahead: panels are so narrow that the cache holds two.
TEST(ProductRule, PanelsFromAfarAreNarrowEnoughToBeFetchedAhead) {
  Task task =
      task_of_workload(R"({"name":"c", "op":"conv2d", "batch":1, "height":14, "width":14, "in_channels":1024,
                          "out_channels":1024, "kernel":3, "stride":2, "padding":1})");
  task.target.cpu().l3.bytes = 64 << 20;
  task.target.cpu().l2.bytes = 1 << 20;
  EXPECT_THAT(preferred_text(task), AllOf(HasSubstr(" f [1 1 8]"), HasSubstr("prefetch O")));
  task.target.cpu().l2.bytes = 4 << 20;
  EXPECT_THAT(preferred_text(task), AllOf(Not(HasSubstr(" f [1 1 8]")), HasSubstr("prefetch O")));
}

// Planes of an image pass under a panel of weights that would come from afar for each of them.
TEST(ProductRule, PanelsFromAfarAreReadOnce) {
  Task task = task_of_workload(
      R"({"name":"c", "op":"conv3d", "batch":1, "depth":4, "height":7, "width":7, "in_channels":128,
                          "out_channels":128, "kernel":3, "stride":1, "padding":1})");
  EXPECT_THAT(text_of_sketch(task, "direct O vector=f rows=x"), HasSubstr("reorder O n f.0 z y.0 x.0"));
  task.target.cpu().l2.bytes = 64 << 20;
  EXPECT_THAT(text_of_sketch(task, "direct O vector=f rows=x"), HasSubstr("reorder O n z "));
}

TEST(ProductRule, CoresDoNotShareWhatOneDoesInAMicrosecond) {
  const auto product = [](int size) {
    Task task = task_of_workload(R"({"name":"m", "op":"matmul", "batch":1, "m":32, "n":32, "k":)" +
                                 std::to_string(size) + "}");
    task.target.cpu().cores = 2;
    return preferred_text(task);
  };
  EXPECT_THAT(product(32), Not(HasSubstr("parallel")));
  EXPECT_THAT(product(320), HasSubstr("parallel C "));
}

// 112 channels are seven vectors of 16: of tiles four wide one would be a quarter empty, were it whole.
TEST(ProductRule, AChoiceOfWidthCountsWhatIsLeftOver) {
  const Target target = generic_target("x86-avx512");
  EXPECT_EQ(preferred_register_tiles(target.cpu(), 7, 256, false).front().vectors, 4);
  // Of thirteen one is left beside six tiles of two: less than beside three of four, whose rows are few.
  EXPECT_EQ(preferred_register_tiles(target.cpu(), 13, 270, false).front().vectors, 2);
}

TEST(ProductRule, TilesThatTakeHardlyLongerAreAlternatives) {
  const std::vector<RegisterTile> tiles =
      preferred_register_tiles(generic_target("x86-avx512").cpu(), 32, 196, /*rows_left_are_whole=*/false);
  ASSERT_GE(tiles.size(), 2u);
  EXPECT_NE(tiles[0].vectors, tiles[1].vectors);
  EXPECT_EQ(preferred_register_tiles(generic_target("x86-avx2").cpu(), 3, 6, false, /*taps=*/64).size(), 1u);
  const Task task = task_of_workload(R"({"name":"m", "op":"matmul", "batch":1, "m":196, "n":512, "k":256})");
  const Result<Space> space = derive_space(task);
  ASSERT_TRUE(space);
  EXPECT_GT(space->preferred_points().size(), space->sketches().size());
}

}  // namespace
}  // namespace lathe::testing
