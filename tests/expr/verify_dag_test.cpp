// What dag_test.cpp does not look at: tables, types, limits, names.
#include <gtest/gtest.h>

#include "expr/dag.h"

namespace lathe {
namespace {

// The sentence with which the builder's Dag is refused, or "right".
std::string dag_refusal(const DagBuilder& builder) {
  const Result<Dag> dag = builder.build();
  return dag ? "right" : dag.error().to_string();
}

// One compute of an axis i:4 with this body, of the builder's inputs.
std::string body_refusal(DagBuilder builder, const Axis& i, const Expr& body) {
  builder.compute("C", {i}, body);
  return dag_refusal(builder);
}

TEST(IsIdentifier, BeginsWithALetterOrUnderscore) {
  for (const char* name : {"a", "_", "A.b_9", "x..", "conv2d.pad"}) EXPECT_TRUE(is_identifier(name)) << name;
  for (const char* name : {"", "9a", ".a", "a-b", "a b", "\xc3\xa4", "a[", "a\n"})
    EXPECT_FALSE(is_identifier(name)) << name;
}

TEST(VerifyDagInputs, ExtentsAreLimited) {
  DagBuilder none, large, many, most;
  none.input("X", {4, 0});
  EXPECT_EQ(dag_refusal(none), "input 'X' has extent 0; an extent is 1 to 2147483648");
  large.input("X", {(int64_t{1} << 31) + 1});
  EXPECT_EQ(dag_refusal(large), "input 'X' has extent 2147483649; an extent is 1 to 2147483648");
  many.input("X", {1 << 24, (1 << 24) + 1});
  EXPECT_EQ(dag_refusal(many), "input 'X' has 2.81e+14 points; at most 2.81e+14 can be counted");
  most.input("X", {1 << 24, 1 << 24});
  EXPECT_EQ(dag_refusal(most), "nothing is computed: there is no output");
}

TEST(VerifyDagTables, AreNamedAndLimitedAsOthers) {
  const Axis i = spatial("i", 2);
  DagBuilder builder;
  builder.input("T", {2});
  EXPECT_EQ(body_refusal(builder, i, Tensor::literal("T", {2}, {1, 2})(i)),
            "there are two tensors named 'T'");
  EXPECT_EQ(body_refusal({}, i, Tensor::literal("1T", {2}, {1, 2})(i)),
            "'1T' is no name for a tensor: letters, digits, '_' and '.', a letter or '_' first");
  EXPECT_EQ(body_refusal({}, i, Tensor::literal("T", {2}, {1, 2})(i + 1)),
            "compute 'C' reads outside of 'T': T[i + 1] reaches 2 in dimension 0, which has 2 elements");
  const Tensor table = Tensor::literal("T", {2}, {1, 2});
  EXPECT_EQ(body_refusal({}, i, table(i) * table(1)), "right");
}

TEST(VerifyDagTypes, HalfFloatsAreNotReduced) {
  const Tensor x("X", {4, 5}, DType::f16);
  const Axis i = spatial("i", 4), r = reduce("r", 5);
  const Tensor c("C", {4}, DType::f16);
  const Dag dag{{x}, {{c, {i, r}, Reduction::max, x(i, r)}}, {c}};
  EXPECT_EQ(verify(dag).error().to_string(),
            "compute 'C' reduces f16, in which nothing is computed: cast the body to f32");
  // The builder casts by itself.
  DagBuilder builder;
  const Tensor y = builder.input("X", {4, 5}, DType::f16);
  EXPECT_EQ(builder.compute("C", {i}, max_over({r}, y(i, r)))->dtype, DType::f32);
  EXPECT_EQ(dag_refusal(builder), "right");
}

TEST(VerifyDagTypes, ABodyIsAScalarOfTheOutputsType) {
  const Tensor x("X", {4}), c("C", {4}, DType::f64);
  const Axis i = spatial("i", 4);
  EXPECT_EQ(verify(Dag{{x}, {{c, {i}, Reduction::none, x(i)}}, {c}}).error().to_string(),
            "compute 'C': the body is f32, the output f64");
  const Tensor d("D", {4});
  EXPECT_EQ(verify(Dag{{x}, {{d, {i}, Reduction::none, broadcast(x(i), 4)}}, {d}}).error().to_string(),
            "compute 'D': the body is f32x4, the output f32");
}

TEST(VerifyDagAxes, GiveTheOutputsShape) {
  const Tensor c("C", {5});
  const Axis i = spatial("i", 4);
  EXPECT_EQ(verify(Dag{{}, {{c, {i}, Reduction::none, Expr(1.0)}}, {c}}).error().to_string(),
            "compute 'C': the spatial axes do not give the output's shape");
  const Tensor d("D", {4});
  EXPECT_EQ(verify(Dag{{}, {{d, {i, reduce("r", 2)}, Reduction::none, Expr(1.0)}}, {d}}).error().to_string(),
            "compute 'D': reduce axes and a reduction need each other");
}

TEST(VerifyDagAxes, AreNoWordsOfTheText) {
  for (const char* word : {"inf", "nan", "true", "false", "1i", "a b"}) {
    DagBuilder builder;
    builder.compute("C", {spatial(word, 4)}, Expr(1.0));
    EXPECT_EQ(dag_refusal(builder), "compute 'C': '" + std::string(word) + "' is no name for an axis");
  }
  DagBuilder builder;
  builder.compute("C", {spatial("infinite", 4)}, Expr(1.0));
  EXPECT_EQ(dag_refusal(builder), "right");
}

TEST(VerifyDagReads, HaveAnIndexForEachDimension) {
  const Axis i = spatial("i", 4);
  DagBuilder builder;
  const Tensor x = builder.input("X", {4, 4});
  EXPECT_EQ(body_refusal(builder, i, x(i)), "compute 'C' reads 'X' with 1 indices; it has 2 dimensions");
  EXPECT_EQ(body_refusal(builder, i, x(i, 4)),
            "compute 'C' reads outside of 'X': X[i, 4] reaches 4 in dimension 1, which has 4 elements");
  EXPECT_EQ(body_refusal(builder, i, x(i - 1, i)),
            "compute 'C' reads outside of 'X': X[i - 1, i] reaches -1 in dimension 0, which has 4 elements");
}

// Also inside of an index, whose own value is the user's word.
TEST(VerifyDagReads, AreCheckedInsideIndicesToo) {
  const Axis i = spatial("i", 4);
  DagBuilder builder;
  const Tensor x = builder.input("X", {4});
  const Tensor s = builder.input("s", {3}, DType::i32);
  EXPECT_EQ(body_refusal(builder, i, x(s(0))), "right");
  EXPECT_EQ(body_refusal(builder, i, x(s(i))),
            "compute 'C' reads outside of 's': s[i] reaches 3 in dimension 0, which has 3 elements");
}

TEST(VerifyDagFunctions, StepsOfPolynomialsAreTheCompilers) {
  const Axis i = spatial("i", 4);
  DagBuilder builder;
  const Tensor x = builder.input("X", {4});
  EXPECT_EQ(body_refusal(builder, i, x(i) + unary(UnaryOp::pow2, x(i) * 2.0)),
            "compute 'C' uses 'pow2(X[i] * 2.0)', which is for compiled programs only");
  EXPECT_EQ(body_refusal(builder, i, unary(UnaryOp::exponent, x(i))),
            "compute 'C' uses 'exponent(X[i])', which is for compiled programs only");
}

TEST(VerifyDagFunctions, ConstantsThatDivideIntegersArePositive) {
  const Axis i = spatial("i", 4);
  DagBuilder builder;
  const Tensor s = builder.input("s", {4}, DType::i32);
  EXPECT_EQ(body_refusal(builder, i, s(i) % 0),
            "compute 'C': of constants only positive ones divide integers, not 'i32(0)'");
  EXPECT_EQ(body_refusal(builder, i, s(i) / s(i)), "right");
  EXPECT_EQ(body_refusal(builder, i, s(i) / 2), "right");
}

TEST(VerifyDagOutputs, ThereIsOne) {
  EXPECT_EQ(verify(Dag{}).error().to_string(), "nothing is computed: there is no output");
  EXPECT_EQ(verify(Dag{}).error().kind, ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace lathe
