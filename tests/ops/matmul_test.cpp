#include "ops/matmul.h"

#include "ops/small_dags.h"

namespace lathe {
namespace {

using ops_testing::computed;
using ops_testing::counted;
using ops_testing::operator_of;
using ops_testing::refusal_of;
using ops_testing::text_of;

TEST(OpsMatmul, MultipliesMatrices) {
  DagBuilder builder;
  const Tensor a = builder.input("A", {2, 3}), b = builder.input("B", {3, 2});
  matmul(builder, "C", a, b);
  EXPECT_EQ(text_of(builder), "C[i:2, j:2] = sum(r:3) A[i, r] * B[r, j]\n");
  EXPECT_EQ(computed(builder.build(), {counted(6), counted(6)}), (std::vector<double>{22, 28, 49, 64}));
}

TEST(OpsMatmul, MultipliesStacksPairByPair) {
  DagBuilder builder;
  const Tensor a = builder.input("A", {2, 1, 2}), b = builder.input("B", {2, 2, 1});
  matmul(builder, "C", a, b);
  EXPECT_EQ(text_of(builder), "C[b:2, i:1, j:1] = sum(r:2) A[b, i, r] * B[b, r, j]\n");
  EXPECT_EQ(computed(builder.build(), {{1, 2, 3, 4}, {1, 10, 100, 1000}}), (std::vector<double>{21, 4300}));
}

TEST(OpsMatmul, MultipliesAVector) {
  DagBuilder builder;
  const Tensor a = builder.input("A", {2, 3}), x = builder.input("x", {3});
  gemv(builder, "y", a, x);
  EXPECT_EQ(computed(builder.build(), {counted(6), {1, 10, 100}}), (std::vector<double>{321, 654}));
}

TEST(OpsMatmul, BilinearSumsBothSides) {
  DagBuilder builder;
  const Tensor x = builder.input("X", {1, 2}), w = builder.input("W", {2, 2, 2}),
               y = builder.input("Y", {1, 2});
  bilinear(builder, "O", x, w, y);
  EXPECT_EQ(text_of(builder), "O[b:1, f:2] = sum(r:2, s:2) X[b, r] * W[f, r, s] * Y[b, s]\n");
  // x' W y of x = (1, 2), y = (3, 4).
  EXPECT_EQ(computed(builder.build(), {{1, 2}, {1, 0, 0, 1, 0, 1, 0, 0}, {3, 4}}),
            (std::vector<double>{11, 4}));
}

TEST(OpsMatmul, TypesOfTheOperandsAreTheResults) {
  DagBuilder builder;
  const Tensor a = builder.input("A", {1, 2}, DType::i32), b = builder.input("B", {2, 1}, DType::i32);
  const Tensor c = matmul(builder, "C", a, b);
  EXPECT_EQ(c->dtype, DType::i32);
}

TEST(OpsMatmul, OneBatchHasNoAxis) {
  const Operator single = operator_of("matmul", R"({"m": 4, "n": 5, "k": 6})").value();
  EXPECT_EQ(single.dag.inputs[0]->shape, (std::vector<int64_t>{4, 6}));
  EXPECT_EQ(single.flops, 2 * 4 * 5 * 6);
  const Operator batched = operator_of("matmul", R"({"batch": 3, "m": 4, "n": 5, "k": 6})").value();
  EXPECT_EQ(batched.dag.inputs[1]->shape, (std::vector<int64_t>{3, 6, 5}));
  EXPECT_EQ(batched.flops, 2 * 3 * 4 * 5 * 6);
}

TEST(OpsMatmul, NamesParametersThatAreMissingOrWrong) {
  EXPECT_EQ(refusal_of("matmul", R"({"m": 4, "n": 5})"), "matmul needs the parameter 'k'");
  EXPECT_EQ(refusal_of("matmul", R"({"m": 4, "n": 5, "k": 6, "groups": 1})"),
            "matmul has no parameter 'groups'; its parameters are batch, m, n, k");
  EXPECT_EQ(refusal_of("gemv", R"({"m": 0, "k": 6})"),
            "'m' of gemv is an integer from 1 to 2147483647, not 0");
  EXPECT_EQ(refusal_of("bilinear",
                       R"({"batch": 1, "out_features": 2147483647, "in1_features": 2147483647,
                           "in2_features": 2147483647})"),
            "input 'W' has 9.9e+27 points; at most 2.81e+14 can be counted");
}

}  // namespace
}  // namespace lathe
