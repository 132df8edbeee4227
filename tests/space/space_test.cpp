// The face of a space, on one of two sketches that are made by hand.
#include "space/space.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

// Splits loop i of block C; tiles of more than 4 x 8 are refused.
Result<Trace> write_tile(Chooser& choose) {
  const int64_t outer = choose.choose("outer", {1, 2, 4, 8}, 2);
  const int64_t inner = choose.choose("inner", {4, 8}, 8);
  if (outer * inner > 32) return fail(ErrorKind::illegal_schedule, "the tile is too large");
  return Trace{SplitStep{"C", "i", {outer, inner}}};
}

Space two_sketches() {
  const auto write_nothing = [](Chooser&) -> Result<Trace> { return Trace(); };
  std::vector<Sketch> sketches = {declared_sketch("tile", write_tile),
                                  declared_sketch("plain", write_nothing)};
  std::vector<Point> first = {{0, sketches[0].preferred}};
  return {std::move(sketches), std::move(first), {InlineStep{"P"}}};
}

TEST(Space, ASketchDeclaresWhatItAsks) {
  const Sketch sketch = declared_sketch("tile", write_tile);
  EXPECT_EQ(sketch.name, "tile");
  ASSERT_EQ(sketch.domain.parameters.size(), 2u);
  EXPECT_EQ(sketch.domain.parameters[1].name, "inner");
  EXPECT_EQ(sketch.preferred, (std::vector<int64_t>{1, 1}));
}

TEST(Space, APointIsWrittenByItsSketch) {
  const Space space = two_sketches();
  EXPECT_EQ(space.size(), 8 + 1);
  EXPECT_EQ(to_string(space.trace({0, {0, 1}}).value()), "split C i [1 8]\n");
  EXPECT_EQ(to_string(space.trace(space.preferred_points()[0]).value()), "split C i [2 8]\n");
  EXPECT_TRUE(space.trace({1, {}}).value().empty());
  EXPECT_EQ(space.sketch_of({1, {}}).name, "plain");
  EXPECT_EQ(space.naive().size(), 1u);
}

TEST(Space, PointsThatAreNoneAreRefused) {
  const Space space = two_sketches();
  EXPECT_EQ(space.trace({0, {3, 1}}).error().message, "the tile is too large");
  EXPECT_TRUE(space.trace({0, {2, 1}}));
  EXPECT_EQ(space.trace({0, {4, 0}}).error().message, "choice must be in 0..3 and is 4");
  EXPECT_EQ(space.trace({2, {}}).error().message, "there is no sketch 2");
  EXPECT_EQ(space.trace({1, {0}}).error().message, "a point of this sketch has 0 integers, not 1");
}

}  // namespace
}  // namespace lathe
