#include "expr/print.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lathe {
namespace {

struct PrintTest : ::testing::Test {
  Var i{"i"};
  Tensor a{"A", {8}};
  Tensor s{"s", {8}, DType::i32};
  Expr x = a(i);
  Expr y = a(Expr(i) + 1);
};

TEST_F(PrintTest, ParenthesesOnlyWhereTheTreeNeedsThem) {
  EXPECT_EQ(to_string((x + y) + x), "A[i] + A[i + 1] + A[i]");
  EXPECT_EQ(to_string(x + (y + x)), "A[i] + (A[i + 1] + A[i])");
  EXPECT_EQ(to_string((x - y) * (x / y)), "(A[i] - A[i + 1]) * (A[i] / A[i + 1])");
  EXPECT_EQ(to_string(x * y / x), "A[i] * A[i + 1] / A[i]");
  EXPECT_EQ(to_string(-(x + y)), "-(A[i] + A[i + 1])");
  EXPECT_EQ(to_string(-x * y), "-A[i] * A[i + 1]");
  EXPECT_EQ(to_string(x < y && (y < x || x == y)),
            "A[i] < A[i + 1] && (A[i + 1] < A[i] || A[i] == A[i + 1])");
  EXPECT_EQ(to_factor(x), "A[i]");
  EXPECT_EQ(to_factor(x + y), "(A[i] + A[i + 1])");
}

TEST_F(PrintTest, Functions) {
  EXPECT_EQ(to_string(max(exp(x), 0)), "max(exp(A[i]), 0.0)");
  EXPECT_EQ(to_string(select(Expr(i) < 3, x, binary(BinaryOp::pow, x, y))),
            "select(i < 3, A[i], pow(A[i], A[i + 1]))");
  EXPECT_EQ(to_string(unary(UnaryOp::logical_not, x < y)), "!(A[i] < A[i + 1])");
}

TEST_F(PrintTest, Literals) {
  EXPECT_EQ(to_string(Expr(1.0)), "1.0");
  EXPECT_EQ(to_string(Expr(-0.5)), "-0.5");
  EXPECT_EQ(to_string(Expr(1e-30)), "1e-30");
  EXPECT_EQ(to_string(-Expr(1.0)), "-(1.0)");
  EXPECT_EQ(to_string(x - Expr(-1.0)), "A[i] - -1.0");
  EXPECT_EQ(to_string(literal({DType::f32, 1}, -INFINITY)), "-inf");
  EXPECT_EQ(to_string(literal({DType::f64, 1}, 2)), "f64(2.0)");
  EXPECT_EQ(to_string(literal({DType::boolean, 1}, 1)), "true");
  EXPECT_EQ(to_string(cast({DType::f64, 1}, Expr(0.5))), "f64(f32(0.5))");
}

TEST_F(PrintTest, Integers) {
  EXPECT_EQ(to_string((Expr(i) * 2 + 1) / 3), "(2*i + 1)/3");
  EXPECT_EQ(to_string(s(i) / 3), "s[i] / 3");
  EXPECT_EQ(to_string(a(s(i) / 3)), "A[s[i] / 3]");
  EXPECT_EQ(to_string(Expr(i) + s(i)), "i + i64(s[i])");
  EXPECT_EQ(to_string(a(Expr(i) * Expr(i) * 2)), "A[2*(i * i)]");
}

TEST_F(PrintTest, Vectors) {
  const Type vector{DType::f32, 8};
  const Expr ramp(ExprNode{{DType::i64, 8}, Ramp{Affine(i) * 8, 1}});
  const Expr mask = binary(BinaryOp::less, ramp, broadcast(Expr(20), 8));
  EXPECT_EQ(to_string(Expr(ExprNode{vector, Load{a, {Affine(i) * 8}, 1, mask}})),
            "A[8*i; 8 by 1 if ramp(8*i, 1, 8) < broadcast(20, 8)]");
  EXPECT_EQ(to_string(broadcast(x, 8)), "broadcast(A[i], 8)");
  EXPECT_EQ(to_string(literal(vector, 0.5)), "f32x8(0.5)");
}

}  // namespace
}  // namespace lathe
