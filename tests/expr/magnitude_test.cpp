#include "expr/magnitude.h"

#include <gtest/gtest.h>

#include "expr/expr.h"

namespace lathe {
namespace {

TEST(Magnitude, OfSumsWithinTheirRanges) {
  const Var i("i");
  const Var j("j");
  Ranges ranges;
  ranges.set_extent(i, 10);
  EXPECT_EQ(magnitude(Affine(i) * 3 - 7, ranges), 37);
  EXPECT_EQ(magnitude(Affine(j) * -2, ranges), 2 * kAssumedMagnitude);
  EXPECT_EQ(magnitude(modulo(Affine(j), 5), ranges), 5);
  EXPECT_EQ(magnitude(floor_div(Affine(i), 5), ranges), 3);
  EXPECT_EQ(magnitude(Affine(INT64_MAX) + Affine(i) * INT64_MAX), (1 + kAssumedMagnitude) * 0x1p63);
}

// What may leave 64 bits wraps around, so it is no sum of indices any more.
TEST(Magnitude, LargeProductsAreValues) {
  const Var i("i");
  const Expr large = Expr(i) * Expr(1 << 30);
  EXPECT_NE(large.as<Index>(), nullptr);
  EXPECT_EQ((large * Expr(1 << 30)).as<Index>(), nullptr);
  const Expr loaded = load(Tensor("A", {4}, DType::i64), {i});
  EXPECT_EQ(to_affine(loaded * Expr(1 << 30)).terms()[0].coefficient, 1 << 30);
  EXPECT_EQ(to_affine(loaded * Expr(1 << 30) * Expr(1 << 30)).terms()[0].coefficient, 1);
}

}  // namespace
}  // namespace lathe
