#include "codegen/patterns.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

TEST(Patterns, MultiplyAddsTakeTheRightProduct) {
  const Tensor a("A", {4});
  const Expr x = a(0), y = a(1), z = a(2);
  const auto right = match_multiply_add(x * y + y * z);
  ASSERT_TRUE(right);
  EXPECT_TRUE(equal(right->a, y) && equal(right->b, z) && equal(right->c, x * y));
  const auto minus_product = match_multiply_add(x - y * z);
  ASSERT_TRUE(minus_product);
  EXPECT_TRUE(minus_product->negate_product && !minus_product->negate_addend && equal(minus_product->c, x));
  const auto minus_addend = match_multiply_add(x * y - z);
  ASSERT_TRUE(minus_addend);
  EXPECT_TRUE(!minus_addend->negate_product && minus_addend->negate_addend && equal(minus_addend->c, z));
  EXPECT_FALSE(match_multiply_add(x + y));
  EXPECT_FALSE(match_multiply_add(x * y));
  const Var i("i");
  EXPECT_FALSE(match_multiply_add(cast({DType::i32, 1}, Expr(i)) * cast({DType::i32, 1}, Expr(i)) +
                                  cast({DType::i32, 1}, Expr(i))));
}

TEST(Patterns, LoadsMayFault) {
  const Tensor a("A", {4});
  const Var i("i");
  const Expr n = cast({DType::i32, 1}, Expr(i));
  EXPECT_FALSE(may_fault(Expr(i) + Expr(3)));
  EXPECT_FALSE(may_fault(n / literal({DType::i32, 1}, 3)));
  EXPECT_FALSE(may_fault(n / n));
  EXPECT_TRUE(may_fault(a(i) + Expr(1.0)));
  EXPECT_TRUE(may_fault(Expr(opaque(cast({DType::i64, 1}, a(i))))));
  EXPECT_FALSE(may_fault(Expr(1.0) / cast({DType::f32, 1}, Expr(i))));
}

TEST(Patterns, ZeroIsPositive) {
  EXPECT_TRUE(is_zero(Expr(0.0)));
  EXPECT_TRUE(is_zero(broadcast(Expr(0.0), 8)));
  EXPECT_TRUE(is_zero(Expr(0)));
  EXPECT_FALSE(is_zero(Expr(-0.0)));
  EXPECT_FALSE(is_zero(Expr(1.0)));
}

TEST(Patterns, SharedPartsAreVisitedOnce) {
  const Tensor a("A", {4});
  Expr e = a(0);
  for (int n = 0; n < 60; ++n) e = e + e;
  int visits = 0;
  for_each_once(e, [&](const Expr&) { ++visits; });
  EXPECT_EQ(visits, 61);
}

}  // namespace
}  // namespace lathe
