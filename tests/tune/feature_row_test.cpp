#include "tune/feature_row.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lower/programs.h"
#include "space/all.h"

namespace lathe::testing {
namespace {

// Every kind has as many names as numbers, at every point of a space.
TEST(FeatureRow, EveryNumberHasAName) {
  const Task task = task_of("C[i:64, j:48] = sum(r:32) A[i,r] * B[r,j]");
  const Space space = derive_space(task).value();
  const Program program = scheduled(task, "");
  for (const std::string& name : feature_kind_names()) {
    const FeatureKind kind = *parse_feature_kind(name);
    const std::vector<std::string> names = feature_row_names(kind, space.sketches());
    for (const Point& point : space.preferred_points()) {
      const std::vector<float> row = feature_row(kind, program, task.target, space.sketches(), point);
      EXPECT_EQ(row.size(), names.size()) << name;
    }
  }
}

TEST(FeatureRow, AConfigurationSaysWhichSketchItIsOf) {
  const std::vector<Sketch> sketches{{.name = "a", .domain = {{{"x", OrderedParameter{{1, 2, 3}}}}}},
                                     {.name = "b", .domain = {{{"y", CategoricalParameter{2}}}}}};
  const Task task = task_of("C[i:64] = A[i] + 1");
  const std::vector<float> row =
      feature_row(FeatureKind::configuration, scheduled(task, ""), task.target, sketches, {1, {1}});
  EXPECT_EQ(feature_row_names(FeatureKind::configuration, sketches),
            (std::vector<std::string>{"a", "a.x", "b", "b.y=0", "b.y=1"}));
  ASSERT_EQ(row.size(), 5U);
  EXPECT_EQ(row[0], 0);
  EXPECT_TRUE(std::isnan(row[1]));
  EXPECT_EQ(row[2], 1);
  EXPECT_EQ(row[3], 0);
  EXPECT_EQ(row[4], 1);
}

}  // namespace
}  // namespace lathe::testing
