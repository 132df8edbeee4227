#include "ops/elementwise.h"

#include "ops/small_dags.h"

namespace lathe {
namespace {

using ops_testing::computed;
using ops_testing::text_of;

TEST(OpsElementwise, MapsEveryElement) {
  DagBuilder builder;
  map(builder, "Y", builder.input("X", {2, 2}), [](const Expr& x) { return x * x - 1.0; });
  EXPECT_EQ(text_of(builder), "Y[i:2, j:2] = X[i, j] * X[i, j] - 1.0\n");
  EXPECT_EQ(computed(builder.build(), {{1, -2, 3, 0}}), (std::vector<double>{0, 3, 8, -1}));
}

TEST(OpsElementwise, ZipsPairsInOrder) {
  DagBuilder builder;
  const Tensor x = builder.input("X", {3}), y = builder.input("Y", {3});
  zip(builder, "Z", y, x, [](const Expr& a, const Expr& b) { return a - b; });
  EXPECT_EQ(text_of(builder), "input X[3]\ninput Y[3]\nZ[i:3] = Y[i] - X[i]\n");
  EXPECT_EQ(computed(builder.build(), {{1, 2, 3}, {10, 20, 30}}), (std::vector<double>{9, 18, 27}));
}

TEST(OpsElementwise, TakesASingleElement) {
  DagBuilder builder;
  map(builder, "Y", builder.input("X", {}), [](const Expr& x) { return -x; });
  EXPECT_EQ(computed(builder.build(), {{5}}), (std::vector<double>{-5}));
}

TEST(OpsElementwise, ScalesAndShiftsChannels) {
  const auto scaled = [](bool scale, bool shift, bool relu) {
    DagBuilder builder;
    const Tensor x = builder.input("X", {1, 2, 1, 2});
    const Tensor s = scale ? builder.input("s", {2}) : Tensor();
    const Tensor b = shift ? builder.input("b", {2}) : Tensor();
    scale_shift(builder, "Y", x, s, b, relu);
    return text_of(builder);
  };
  EXPECT_EQ(scaled(true, true, true), "Y[n:1, c:2, y:1, x:2] = max(X[n, c, y, x] * s[c] + b[c], 0.0)\n");
  EXPECT_EQ(scaled(true, false, false), "Y[n:1, c:2, y:1, x:2] = X[n, c, y, x] * s[c]\n");
  EXPECT_EQ(scaled(false, true, false), "Y[n:1, c:2, y:1, x:2] = X[n, c, y, x] + b[c]\n");
  EXPECT_EQ(scaled(false, false, true), "Y[n:1, c:2, y:1, x:2] = max(X[n, c, y, x], 0.0)\n");
}

TEST(OpsElementwise, ReluIsOfTheOperandsType) {
  for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::i8}) {
    DagBuilder builder;
    const Tensor y = map(builder, "Y", builder.input("X", {3}, dtype), relu);
    EXPECT_EQ(y->dtype, dtype);
    EXPECT_EQ(computed(builder.build(), {{-3, 0, 5}}), (std::vector<double>{0, 0, 5})) << to_string(dtype);
  }
}

}  // namespace
}  // namespace lathe
