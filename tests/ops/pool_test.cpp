#include "ops/pool.h"

#include "ops/small_dags.h"

namespace lathe {
namespace {

using ops_testing::computed;
using ops_testing::counted;
using ops_testing::text_of;

TEST(OpsPool, TheLargestOfEachWindow) {
  DagBuilder builder;
  max_pool(builder, "P", builder.input("X", {1, 1, 2, 3}), {2, 2}, {});
  EXPECT_EQ(text_of(builder), "P[n:1, c:1, y:1, x:2] = max(ky:2, kx:2) X[n, c, y + ky, x + kx]\n");
  EXPECT_EQ(computed(builder.build(), {{5, 1, 2, 0, 3, 4}}), (std::vector<double>{5, 4}));
}

// Negative elements win over what is padded.
TEST(OpsPool, PadsByWhatIsNeverTheLargest) {
  DagBuilder builder;
  max_pool(builder, "P", builder.input("X", {1, 1, 3}), {2}, uniform_window(1, 1, 1));
  EXPECT_EQ(computed(builder.build(), {{-1, -2, -3}}), (std::vector<double>{-1, -1, -2, -3}));
  DagBuilder integers;
  max_pool(integers, "P", integers.input("X", {1, 1, 2}, DType::i8), {2}, uniform_window(1, 1, 1));
  EXPECT_EQ(computed(integers.build(), {{-128, -100}}), (std::vector<double>{-128, -100, -100}));
}

TEST(OpsPool, SumsPadByZero) {
  DagBuilder builder;
  sum_pool(builder, "P", builder.input("X", {1, 1, 4}), {3}, uniform_window(1, 2, 1));
  EXPECT_EQ(computed(builder.build(), {counted(4)}), (std::vector<double>{3, 9}));
}

TEST(OpsPool, SkipsElementsByItsDilation) {
  DagBuilder builder;
  max_pool(builder, "P", builder.input("X", {1, 1, 6}), {2}, uniform_window(1, 1, 0, 3));
  EXPECT_EQ(computed(builder.build(), {{6, 1, 2, 3, 4, 5}}), (std::vector<double>{6, 4, 5}));
}

TEST(OpsPool, HasAsManyAxesAsTheImage) {
  DagBuilder builder;
  sum_pool(builder, "P", builder.input("X", {1, 1, 2, 2, 2}), {2, 1, 2}, {});
  EXPECT_EQ(text_of(builder),
            "P[n:1, c:1, z:1, y:2, x:1] = sum(kz:2, ky:1, kx:2) X[n, c, z + kz, y + ky, x + kx]\n");
  EXPECT_EQ(computed(builder.build(), {counted(8)}), (std::vector<double>{1 + 2 + 5 + 6, 3 + 4 + 7 + 8}));
}

TEST(OpsPool, TheMeanOfAllPlacesKeepsTheAxes) {
  DagBuilder builder;
  const Tensor mean = global_average_pool(builder, "G", builder.input("X", {2, 2, 2, 1}));
  EXPECT_EQ(mean->shape, (std::vector<int64_t>{2, 2, 1, 1}));
  EXPECT_EQ(computed(builder.build(), {counted(8)}), (std::vector<double>{1.5, 3.5, 5.5, 7.5}));
  DagBuilder row;
  global_average_pool(row, "G", row.input("X", {1, 1, 4}));
  EXPECT_EQ(text_of(row),
            "G.sum[i:1, j:1, k:1] = sum(kk:4) X[i, j, kk]\n"
            "G[i:1, j:1, k:1] = G.sum[i, j, k] * 0.25\n");
}

}  // namespace
}  // namespace lathe
