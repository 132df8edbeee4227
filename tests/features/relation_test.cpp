#include "features/relation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lathe {
namespace {

// Buffers A and B of AutoTVM's figure 3, with i = reuse and j = touched.
TEST(Relation, Figure3HasItsCurves) {
  const std::vector<std::pair<double, double>> a{{8, 64}, {8, 8}, {1, 8}};
  const auto of_a = relation_curve(a);
  for (size_t t = 0; t < kThresholds; ++t) EXPECT_EQ(of_a[t], std::exp2(t) <= 8 ? 0 : 8) << t;
  const std::vector<std::pair<double, double>> b{{8, 64}, {1, 64}, {1, 8}};
  const auto of_b = relation_curve(b);
  for (size_t t = 0; t < kThresholds; ++t)
    EXPECT_EQ(of_b[t], std::exp2(t) <= 8 ? 0 : std::exp2(t) <= 64 ? 1 : 8) << t;
}

TEST(Relation, EveryNumberHasAName) {
  LoopContext context;
  context.top_down = 3;
  context.touches = {{nullptr, true, 8, 2, 1}};
  const std::vector<float> row = relation_features({context});
  ASSERT_EQ(row.size(), relation_names().size());
  const auto at = [&](const std::string& name) {
    for (size_t i = 0; i < row.size(); ++i)
      if (relation_names()[i] == name) return row[i];
    ADD_FAILURE() << name;
    return 0.0F;
  };
  EXPECT_EQ(at("buffer0.reuse_by_touched.3"), 0);
  EXPECT_FLOAT_EQ(at("buffer0.reuse_by_touched.4"), std::log2(3.0F));
  EXPECT_FLOAT_EQ(at("buffer0.touched_by_top_down.2"), std::log2(9.0F));
  EXPECT_FLOAT_EQ(at("buffer0.top_down_by_touched.4"), 2);
  EXPECT_EQ(at("buffer1.reuse_by_touched.19"), 0);
  EXPECT_EQ(relation_features({}), std::vector<float>(row.size(), 0));
}

}  // namespace
}  // namespace lathe
