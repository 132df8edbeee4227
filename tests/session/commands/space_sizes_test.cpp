#include "session/commands/space_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/network_file.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

class SpaceSizesTest : public SessionTest {};

TEST_F(SpaceSizesTest, EverySketchHasItsNumberOfPoints) {
  const std::vector<SpaceSize> sizes = space_sizes(source(), "lathe").value();
  ASSERT_EQ(sizes.size(), 1U);
  EXPECT_EQ(sizes[0].name, "mm");
  EXPECT_EQ(sizes[0].paper, "");
  ASSERT_FALSE(sizes[0].sketches.empty());
  double points = 0;
  for (const SketchSize& sketch : sizes[0].sketches) {
    EXPECT_GT(sketch.points, 1) << sketch.name;
    EXPECT_GT(sketch.choices, 0U) << sketch.name;
    points += static_cast<double>(sketch.points);
  }
  EXPECT_EQ(sizes[0].points, points);
}

// Two products of one shape are one task.
TEST_F(SpaceSizesTest, AModelHasThoseOfItsTasks) {
  OnnxModel model;
  model.input("x", {4, 8}).initializer("v", {8, 8}).initializer("w", {8, 8});
  model.node("first", "MatMul", {"x", "v"}, "h").node("second", "MatMul", {"h", "w"}, "y").output("y");
  ProgramSource network = source();
  network.workload.clear();
  network.model = model_file(folder_, model);
  const std::vector<SpaceSize> sizes = space_sizes(network, "ansor").value();
  ASSERT_EQ(sizes.size(), 1U);
  EXPECT_EQ(sizes[0].sketches.size(), 3U);
}

TEST_F(SpaceSizesTest, ASpaceThatThereIsNotIsAnError) {
  EXPECT_THAT(refusal_of(space_sizes(source(), "ansatz")),
              ::testing::HasSubstr("there is no space 'ansatz'"));
}

}  // namespace
}  // namespace lathe
