#include "space/ansor/node_loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lathe {
namespace {

using ::testing::ElementsAre;

UncutLoop spatial_loop(std::string name, int64_t extent, size_t axis, std::vector<int64_t> factors) {
  return {.name = std::move(name),
          .extent = extent,
          .axis = axis,
          .levels = {kOuter, kMiddle, kInner, kInnermost},
          .factors = std::move(factors)};
}

UncutLoop reduce_loop(std::string name, int64_t extent, size_t axis, std::vector<int64_t> factors) {
  return {.name = std::move(name),
          .extent = extent,
          .axis = axis,
          .reduces = true,
          .levels = {kOuterReduce, kInnerReduce},
          .factors = std::move(factors)};
}

TEST(NodeLoops, LevelsAreSpatialSpatialReduceSpatialReduceSpatial) {
  const NodeLoops loops = cut("C",
                              {spatial_loop("i", 64, 0, {2, 2, 4}), spatial_loop("j", 64, 1, {2, 2, 8}),
                               reduce_loop("r", 16, 2, {4})},
                              1, 8);
  EXPECT_EQ(to_string(loops.splits), "split C i [2 2 4]\nsplit C j [2 2 8]\nsplit C r [4]\n");
}

TEST(NodeLoops, PartsOfOnePlaceHaveNoLoops) {
  const NodeLoops loops = cut("C",
                              {spatial_loop("i", 8, 0, {1, 8, 1}), spatial_loop("j", 64, 1, {4, 1, 8}),
                               reduce_loop("r", 16, 2, {1}), reduce_loop("k", 1, 3, {})},
                              1, 8);
  EXPECT_EQ(to_string(loops.splits), "split C j [4 8]\n");
  EXPECT_THAT(loops.names(), ElementsAre("j.0", "j.1", "r", "i", "k", "j.2"));
  EXPECT_EQ(loops.loops.back().level, kLanes);
}

// Something has to hold what is computed at that level.
TEST(NodeLoops, ThereIsAnOuterLoop) {
  const NodeLoops loops =
      cut("C", {spatial_loop("i", 8, 0, {1, 8, 1}), spatial_loop("j", 4, 1, {4, 1, 1})}, 1, 8);
  EXPECT_THAT(loops.names(), ElementsAre("i.0", "j", "i.1"));
  EXPECT_EQ(loops.loops[0].extent, 1);
  const NodeLoops with_one =
      cut("C", {spatial_loop("n", 1, 0, {}), spatial_loop("j", 4, 1, {4, 1, 1})}, 1, 8);
  EXPECT_THAT(with_one.names(), ElementsAre("n", "j"));
}

TEST(NodeLoops, TheLastLoopUpToALevelAndWhatIsInside) {
  const NodeLoops loops = cut("C",
                              {spatial_loop("i", 64, 0, {2, 2, 4}), spatial_loop("j", 64, 1, {2, 1, 32}),
                               reduce_loop("r", 16, 2, {4})},
                              1, 8);
  EXPECT_THAT(loops.names(), ElementsAre("i.0", "i.1", "j.0", "r.0", "i.2", "r.1", "i.3", "j.1", "j.2"));
  EXPECT_EQ(loops.last_up_to(kOuter), 0U);
  EXPECT_EQ(loops.last_up_to(kMiddle), 2U);
  EXPECT_EQ(loops.last_up_to(kInner), 4U);
  EXPECT_EQ(loops.extent_inside(2, 0), 8);
  EXPECT_EQ(loops.extent_inside(std::nullopt, 1), 64);
  EXPECT_TRUE(loops.has_level(kInner));
  EXPECT_EQ(cut("C", {}, std::nullopt, 8).last_up_to(kLanes), std::nullopt);
}

TEST(NodeLoops, VectorsAreWholeUpToSixteen) {
  EXPECT_EQ(vectorized_places(7, 8), 7);
  EXPECT_EQ(vectorized_places(16, 8), 16);
  EXPECT_EQ(vectorized_places(64, 8), 16);
  EXPECT_EQ(vectorized_places(56, 8), 8);  // not 14: whole vectors of the machine
  EXPECT_EQ(vectorized_places(42, 8), 14);
  EXPECT_EQ(vectorized_places(17, 8), 1);
}

}  // namespace
}  // namespace lathe
