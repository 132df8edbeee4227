#include "ops/softmax.h"

#include <gmock/gmock.h>

#include <cmath>

#include "ops/small_dags.h"

namespace lathe {
namespace {

using ops_testing::computed;
using ops_testing::operator_of;
using ops_testing::text_of;
using ::testing::DoubleNear;
using ::testing::Pointwise;

TEST(OpsSoftmax, IsFourComputesOverTheLastAxis) {
  DagBuilder builder;
  softmax(builder, "P", builder.input("X", {2, 3}));
  EXPECT_EQ(text_of(builder),
            "P.max[i:2] = max(j:3) X[i, j]\n"
            "P.exp[i:2, j:3] = exp(X[i, j] - P.max[i])\n"
            "P.sum[i:2] = sum(j:3) P.exp[i, j]\n"
            "P[i:2, j:3] = P.exp[i, j] / P.sum[i]\n");
}

TEST(OpsSoftmax, SharesOneAmongTheElements) {
  DagBuilder builder;
  softmax(builder, "P", builder.input("X", {2, 3}));
  const double ln2 = std::log(2.0), ln5 = std::log(5.0);
  EXPECT_THAT(computed(builder.build(), {{0, ln2, ln5, 7, 7, 7}}),
              Pointwise(DoubleNear(1e-7), std::vector<double>{0.125, 0.25, 0.625, 1 / 3., 1 / 3., 1 / 3.}));
}

// The largest element is taken off first: none of these overflows.
TEST(OpsSoftmax, TakesLargeElements) {
  DagBuilder builder;
  softmax(builder, "P", builder.input("X", {1, 2}));
  EXPECT_EQ(computed(builder.build(), {{3e38, 3e38}}), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(computed(builder.build(), {{-3e38, 1000}}), (std::vector<double>{0, 1}));
}

TEST(OpsSoftmax, OfAVectorIsOneRow) {
  DagBuilder builder;
  softmax(builder, "P", builder.input("X", {2}));
  EXPECT_EQ(computed(builder.build(), {{4, 4}}), (std::vector<double>{0.5, 0.5}));
  DagBuilder single;
  softmax(single, "P", single.input("X", {1, 1}));
  EXPECT_EQ(computed(single.build(), {{-9}}), (std::vector<double>{1}));
}

// Of one head of one feature: the scores are products of two numbers.
TEST(OpsSoftmax, ScoresAreQueriesByKeys) {
  const Operator made = operator_of("transpose_batch_matmul_softmax",
                                    R"({"batch": 1, "sequence": 2, "heads": 1, "head_dim": 1})")
                            .value();
  const double ln3 = std::log(3.0);
  EXPECT_THAT(computed(made.dag, {{1, 2}, {0, ln3}}),
              Pointwise(DoubleNear(1e-6), std::vector<double>{0.25, 0.75, 0.1, 0.9}));
  EXPECT_TRUE(made.constants.empty());
}

}  // namespace
}  // namespace lathe
