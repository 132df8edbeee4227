#include "tune/feature_rows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lower/programs.h"
#include "space/all.h"

namespace lathe::testing {
namespace {

// Every kind has as many names as numbers, at every point of a space.
TEST(FeatureRows, EveryNumberHasAName) {
  const Task task = task_of("C[i:64, j:48] = sum(r:32) A[i,r] * B[r,j]");
  const Space space = derive_space(task).value();
  const Program program = scheduled(task, "");
  for (const std::string& name : feature_kind_names()) {
    const FeatureKind kind = *parse_feature_kind(name);
    const std::vector<std::string> names = feature_row_names(kind, space.sketches());
    for (const Point& point : space.preferred_points()) {
      const FeatureRows rows = kind == FeatureKind::configuration
                                   ? configuration_rows(space.sketches(), point)
                                   : program_rows(kind, program, task.target);
      EXPECT_EQ(rows.numbers.size(), static_cast<size_t>(rows.count) * names.size()) << name;
      const bool is_tree = kind == FeatureKind::loop_tree || kind == FeatureKind::syntax_tree;
      EXPECT_EQ(rows.parents.size(), is_tree ? static_cast<size_t>(rows.count) : 0U) << name;
      const int64_t least = kind == FeatureKind::syntax_tree ? 4 : 1;
      const int64_t most = kind == FeatureKind::syntax_tree ? 64 : 1;
      EXPECT_GE(rows.count, kind == FeatureKind::loop_tree ? 3 : least) << name;
      EXPECT_LE(rows.count, kind == FeatureKind::loop_tree ? 3 : most) << name;
    }
  }
}

TEST(FeatureRows, AConfigurationSaysWhichSketchItIsOf) {
  const std::vector<Sketch> sketches{
      {.name = "a", .write = {}, .domain = {{{"x", OrderedParameter{{1, 2, 3}}}}}},
      {.name = "b", .write = {}, .domain = {{{"y", CategoricalParameter{2}}}}}};
  const std::vector<float> row = configuration_rows(sketches, {1, {1}}).numbers;
  EXPECT_EQ(feature_row_names(FeatureKind::configuration, sketches),
            (std::vector<std::string>{"a", "a.x", "b", "b.y=0", "b.y=1"}));
  ASSERT_EQ(row.size(), 5U);
  EXPECT_EQ(row[0], 0);
  EXPECT_TRUE(std::isnan(row[1]));
  EXPECT_EQ(row[2], 1);
  EXPECT_EQ(row[3], 0);
  EXPECT_EQ(row[4], 1);
}

// i around j around r.
TEST(FeatureRows, LoopsHaveTheirPlaceInTheTree) {
  const Task task = task_of("C[i:64, j:48] = sum(r:32) A[i,r] * B[r,j]");
  const FeatureRows rows = program_rows(FeatureKind::loop_tree, scheduled(task, ""), task.target);
  EXPECT_EQ(rows.parents, (std::vector<int>{-1, 0, 1}));
  const Task two = task_of("T[i:64] = A[i] + 1\nC[i:64, j:48] = T[i] * B[j]");
  EXPECT_EQ(program_rows(FeatureKind::loop_tree, scheduled(two, ""), two.target).parents,
            (std::vector<int>{-1, -1, 1}));
}

}  // namespace
}  // namespace lathe::testing
