// Capsule convolutions by hand, and what is refused; their formula: semantics_test.cpp.
#include "ops/capsule.h"

#include "ops/small_dags.h"

namespace lathe {
namespace {

using ops_testing::computed;
using ops_testing::operator_of;
using ops_testing::refusal_of;
using ops_testing::text_of;

TEST(OpsCapsule, MultipliesTheMatricesOfPixelsAndWeights) {
  DagBuilder builder;
  const Tensor p = builder.input("P", {1, 1, 1, 1, 2, 2}), w = builder.input("W", {1, 1, 1, 1, 2, 2});
  capsule_conv2d(builder, "O", p, w, {});
  EXPECT_EQ(computed(builder.build(), {{1, 2, 3, 4}, {5, 6, 7, 8}}), (std::vector<double>{19, 22, 43, 50}));
}

TEST(OpsCapsule, SumsOverTheWindow) {
  DagBuilder builder;
  const Tensor p = builder.input("P", {1, 2, 3, 1, 1, 1}), w = builder.input("W", {2, 2, 1, 1, 1, 1});
  const Tensor o = capsule_conv2d(builder, "O", p, w, {});
  EXPECT_EQ(o->shape, (std::vector<int64_t>{1, 1, 2, 1, 1, 1}));
  EXPECT_EQ(text_of(builder),
            "O[n:1, y:1, x:2, f:1, i:1, j:1] = sum(ky:2, kx:2, c:1, r:1) P[n, y + ky, x + kx, c, i, r] * "
            "W[ky, kx, c, f, r, j]\n");
  EXPECT_EQ(computed(builder.build(), {{1, 2, 3, 4, 5, 6}, {1, 10, 100, 1000}}),
            (std::vector<double>{5421, 6532}));
}

TEST(OpsCapsule, StridesEachAxisByItself) {
  DagBuilder builder;
  const Tensor p = builder.input("P", {1, 3, 2, 1, 1, 1}), w = builder.input("W", {1, 1, 1, 1, 1, 1});
  Window window;
  window.stride = {2, 1};
  capsule_conv2d(builder, "O", p, w, window);
  EXPECT_EQ(computed(builder.build(), {{1, 2, 3, 4, 5, 6}, {10}}), (std::vector<double>{10, 20, 50, 60}));
}

TEST(OpsCapsule, PadsRowsAndColumnsAlone) {
  const Operator made = operator_of("capsule_conv2d", R"({"batch": 1, "height": 1, "width": 1,
      "in_channels": 1, "out_channels": 1, "kernel": 3, "stride": 1, "padding": 1, "capsule": 1})")
                            .value();
  EXPECT_EQ(made.dag.computes[0].output->shape, (std::vector<int64_t>{1, 3, 3, 1, 1, 1}));
  EXPECT_EQ(computed(made.dag, {{7}, {0, 0, 0, 0, 2, 0, 0, 0, 0}}), (std::vector<double>{14}));
  EXPECT_EQ(made.constants, std::vector<std::string>{"W"});
}

TEST(OpsCapsule, NamesAKernelThatDoesNotFit) {
  EXPECT_EQ(refusal_of("capsule_conv2d", R"({"batch": 1, "height": 3, "width": 2, "in_channels": 1,
                        "out_channels": 1, "kernel": 3, "stride": 1, "padding": 0, "capsule": 4})"),
            "a kernel of 3 with dilation 1 does not fit an input of 2 with padding 0 and 0");
}

TEST(OpsCapsule, CountsTheProductsOfMatrices) {
  EXPECT_EQ(operator_of("capsule_conv2d", R"({"batch": 1, "height": 3, "width": 3, "in_channels": 2,
                         "out_channels": 3, "kernel": 2, "stride": 1, "padding": 0, "capsule": 4})")
                .value()
                .flops,
            2 * (2 * 2) * 2 * 3 * 4 * 4 * 4 * 4);
}

}  // namespace
}  // namespace lathe
