#include "ops/axes.h"

#include <gtest/gtest.h>

#include "expr/print.h"

namespace lathe {
namespace {

TEST(OpsAxes, SpatialNamesEndWithX) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(spatial_names(1), Names{"x"});
  EXPECT_EQ(spatial_names(2), (Names{"y", "x"}));
  EXPECT_EQ(spatial_names(3, "k"), (Names{"kz", "ky", "kx"}));
}

TEST(OpsAxes, AreNamedByTheNumberOfDimensions) {
  const auto names = [](size_t rank, bool channels_last) {
    return to_string(axes_of(Tensor("T", std::vector<int64_t>(rank, 2)), channels_last));
  };
  EXPECT_EQ(names(0, false), "");
  EXPECT_EQ(names(1, false), "i:2");
  EXPECT_EQ(names(3, false), "i:2, j:2, k:2");
  EXPECT_EQ(names(4, false), "n:2, c:2, y:2, x:2");
  EXPECT_EQ(names(5, false), "n:2, c:2, z:2, y:2, x:2");
  EXPECT_EQ(names(6, false), "d0:2, d1:2, d2:2, d3:2, d4:2, d5:2");
  EXPECT_EQ(names(3, true), "i:2, j:2, k:2");
  EXPECT_EQ(names(4, true), "n:2, y:2, x:2, c:2");
  EXPECT_EQ(names(6, true), "n:2, y:2, x:2, c:2, i:2, j:2");
}

TEST(OpsAxes, HaveTheTensorsExtentsAndAreSpatial) {
  const std::vector<Axis> axes = axes_of(Tensor("T", {3, 1, 4, 2}));
  EXPECT_EQ(to_string(axes), "n:3, c:1, y:4, x:2");
  for (const Axis& axis : axes) EXPECT_EQ(axis.kind, AxisKind::spatial);
}

TEST(OpsAxes, IndicesAreTheirVariables) {
  const std::vector<Axis> axes = axes_of(Tensor("T", {3, 4}));
  const std::vector<Affine> index = indices(axes);
  ASSERT_EQ(index.size(), 2U);
  for (size_t d = 0; d < 2; ++d) EXPECT_EQ(index[d].as_var(), axes[d].var);
  EXPECT_TRUE(indices({}).empty());
}

}  // namespace
}  // namespace lathe
