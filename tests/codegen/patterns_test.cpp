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

// As many as their stride is long, side by side, of one tensor that none of them reads.
TEST(Patterns, StoresThatFillARunAreFound) {
  const Tensor to("T", {64}), from("F", {64});
  const auto stored = [&](int64_t offset, int64_t stride, const Tensor& read, const Expr& mask = {}) {
    return make_stmt(Store{to, {offset}, broadcast(load(read, {offset}), 4), stride, mask});
  };
  const std::vector<Stmt> pair = {stored(8, 2, from), stored(9, 2, from), stored(10, 2, from)};
  EXPECT_EQ(interleaved_stores(pair), 2U);
  EXPECT_EQ(interleaved_stores(std::span(pair).first(1)), 0U);
  EXPECT_EQ(interleaved_stores({}), 0U);
  const std::vector<Stmt> apart = {stored(8, 2, from), stored(10, 2, from)};
  EXPECT_EQ(interleaved_stores(apart), 0U);
  const std::vector<Stmt> reads = {stored(8, 2, from), stored(9, 2, to)};
  EXPECT_EQ(interleaved_stores(reads), 0U);
  const std::vector<Stmt> by_three = {stored(0, 3, from), stored(1, 3, from), stored(2, 3, from)};
  EXPECT_EQ(interleaved_stores(by_three), 0U);
  const Expr all = broadcast(literal({DType::boolean}, 1), 4);
  const std::vector<Stmt> masked = {stored(8, 2, from, all), stored(9, 2, from, all)};
  EXPECT_EQ(interleaved_stores(masked), 0U);
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
