#include "expr/dag.h"

#include <gtest/gtest.h>

#include <limits>

#include "expr/print.h"

namespace lathe {
namespace {

std::string error_of(const DagBuilder& builder) {
  const Result<Dag> dag = builder.build();
  return dag ? "no error" : dag.error().to_string();
}

TEST(Dag, FiveLinesOfUserCode) {
  DagBuilder builder;
  const Tensor a = builder.input("A", {10, 9});
  const Tensor b = builder.input("B", {9, 11});
  const Axis i = spatial("i", 10), j = spatial("j", 11), r = reduce("r", 9);
  const Tensor c = builder.compute("C", {i, j}, sum({r}, a(i, r) * b(r, j)));
  builder.compute("D", {i, j}, max(c(i, j), 0));
  const Result<Dag> dag = builder.build();
  ASSERT_TRUE(dag.has_value()) << dag.error().to_string();
  EXPECT_EQ(to_string(*dag),
            "C[i:10, j:11] = sum(r:9) A[i, r] * B[r, j]\nD[i:10, j:11] = max(C[i, j], 0.0)\n");
  EXPECT_EQ(dag->producer(c), &dag->computes[0]);
  EXPECT_EQ(dag->producer(a), nullptr);
  EXPECT_EQ(dag->consumers(c), std::vector<size_t>{1});
  const Consumers consumers(*dag);
  for (const auto* tensors : {&dag->inputs, &dag->outputs}) {
    for (const Tensor& tensor : *tensors)
      EXPECT_EQ(consumers.of(tensor), dag->consumers(tensor)) << tensor->name;
  }
  EXPECT_EQ(consumers.of(c), std::vector<size_t>{1});
  EXPECT_FALSE(dag->is_output(c));
  EXPECT_TRUE(dag->is_output(dag->computes[1].output));
  // The axes are written once and belong to each compute by itself.
  EXPECT_FALSE(dag->computes[0].axes[0].var == dag->computes[1].axes[0].var);
}

TEST(Dag, FreshNames) {
  DagBuilder builder;
  const Tensor x = builder.input("X", {4});
  const Axis i = spatial("i", 4);
  EXPECT_EQ(builder.fresh_name("X.pad"), "X.pad");
  builder.compute("X.pad", {i}, x(i));
  EXPECT_EQ(builder.fresh_name("X.pad"), "X.pad.2");
  EXPECT_EQ(builder.fresh_name("X"), "X.2");
}

TEST(Dag, Identities) {
  EXPECT_EQ(identity_of(Reduction::sum), 0);
  EXPECT_EQ(identity_of(Reduction::max), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(identity_of(Reduction::min), std::numeric_limits<double>::infinity());
}

TEST(Dag, Reductions) {
  DagBuilder builder;
  const Tensor x = builder.input("X", {4, 5});
  const Axis i = spatial("i", 4), r = reduce("r", 5);
  const Tensor least = builder.compute("L", {i}, min_over({r}, x(i, r)));
  const Tensor greatest = builder.compute("G", {i}, max_over({r}, x(i, r)));
  builder.compute("S", {i}, greatest(i) - least(i));
  const Result<Dag> dag = builder.build();
  ASSERT_TRUE(dag.has_value()) << dag.error().to_string();
  EXPECT_EQ(to_string(*dag), "L[i:4] = min(r:5) X[i, r]\nG[i:4] = max(r:5) X[i, r]\nS[i:4] = G[i] - L[i]\n");
}

struct VerifyDag : ::testing::Test {
  DagBuilder builder;
  Tensor x = builder.input("X", {4, 5});
  Axis i = spatial("i", 4);
  Axis j = spatial("j", 5);
  Axis r = reduce("r", 5);
};

TEST_F(VerifyDag, Names) {
  builder.compute("X", {i, j}, x(i, j));
  EXPECT_EQ(error_of(builder), "there are two tensors named 'X'");
  DagBuilder second;
  second.input("/layer 1/x", {4});
  EXPECT_EQ(error_of(second),
            "'/layer 1/x' is no name for a tensor: letters, digits, '_' and '.', a letter or '_' first");
}

TEST_F(VerifyDag, AxisNames) {
  builder.compute("C", {i, spatial("i", 5)}, x(i, i));
  EXPECT_EQ(error_of(builder), "compute 'C' has two axes named 'i'");
  DagBuilder second;
  second.compute("C", {spatial("inf", 5)}, Expr(1.0));
  EXPECT_EQ(error_of(second), "compute 'C': 'inf' is no name for an axis");
}

TEST_F(VerifyDag, Extents) {
  builder.compute("C", {i, spatial("k", 0)}, x(i, 0));
  EXPECT_EQ(error_of(builder), "compute 'C' has extent 0; an extent is 1 to 2147483648");
  DagBuilder second;
  const int64_t large = int64_t{1} << 31;
  second.compute("C", {spatial("a", large), spatial("b", large)}, Expr(1.0));
  EXPECT_EQ(error_of(second), "compute 'C' has 4.61e+18 points; at most 2.81e+14 can be counted");
}

TEST_F(VerifyDag, AxesOfOthers) {
  const Axis stranger = spatial("k", 3);
  builder.compute("C", {i}, x(i, stranger));
  EXPECT_EQ(error_of(builder), "compute 'C' uses 'k', which is none of its axes");
}

TEST_F(VerifyDag, ReadsOutside) {
  builder.compute("C", {i}, sum({r}, x(i, r + 1)));
  EXPECT_EQ(error_of(builder),
            "compute 'C' reads outside of 'X': X[i, r + 1] reaches 5 in dimension 1, which has 5 elements");
}

TEST_F(VerifyDag, ReadsInsideASelect) {
  builder.compute("C", {i, j}, select(Expr(j) + 1 < 5, x(i, j + 1), 0.0));
  EXPECT_EQ(error_of(builder), "no error");
}

TEST_F(VerifyDag, ReadsOfUnknownTensors) {
  const Tensor stranger("Y", {4});
  builder.compute("C", {i}, stranger(i));
  EXPECT_EQ(error_of(builder), "compute 'C' reads 'Y', which is neither an input nor computed before");
  DagBuilder second;
  const Tensor y = second.input("Y", {4});
  second.compute("C", {i}, y(i, i));
  EXPECT_EQ(error_of(second), "compute 'C' reads 'Y' with 2 indices; it has 1 dimension");
}

TEST_F(VerifyDag, Divisors) {
  builder.compute("C", {i, j}, x(i, j) * cast({DType::f32, 1}, Expr(i) / (Expr(0) - Expr(3))));
  EXPECT_EQ(error_of(builder), "compute 'C': of constants only positive ones divide integers, not '-3'");
}

TEST_F(VerifyDag, ReductionsNeedReduceAxes) {
  builder.compute("C", {i}, sum({}, x(i, 0)));
  EXPECT_EQ(error_of(builder), "compute 'C': reduce axes and a reduction need each other");
  DagBuilder second;
  const Tensor y = second.input("Y", {4});
  second.compute("C", {i}, sum({reduce("k", 4)}, y(i) < 1.0));
  EXPECT_EQ(error_of(second), "compute 'C' reduces bool; only numbers can be reduced");
}

TEST_F(VerifyDag, SpatialAxesComeFirst) {
  builder.compute("C", {i}, sum({r, spatial("s", 5)}, x(i, r)));
  EXPECT_EQ(error_of(builder), "compute 'C': spatial axis 's' stands behind a reduce axis");
}

TEST_F(VerifyDag, Outputs) {
  const Tensor c = builder.compute("C", {i}, x(i, 0));
  builder.compute("D", {i}, x(i, 1));
  builder.output(c);
  EXPECT_EQ(error_of(builder), "compute 'D' is neither read nor an output");
  Dag dag{{x}, {}, {x}};
  EXPECT_EQ(verify(dag).error().to_string(), "output 'X' is not computed");
  DagBuilder twice;
  const Tensor one = twice.compute("C", {i}, Expr(1.0));
  twice.output(one);
  twice.output(one);
  EXPECT_EQ(error_of(twice), "'C' is an output twice");
}

TEST_F(VerifyDag, AxesBelongToOneCompute) {
  const Tensor c("C", {4});
  const Tensor d("D", {4});
  const Dag dag{{x}, {{c, {i}, Reduction::none, x(i, 0)}, {d, {i}, Reduction::none, c(i)}}, {d}};
  EXPECT_EQ(verify(dag).error().to_string(), "compute 'D': axis 'i' belongs to another compute");
}

}  // namespace
}  // namespace lathe
