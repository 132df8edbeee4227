#include "expr/compare.h"

#include <gtest/gtest.h>

#include <limits>

#include "expr/print.h"

namespace lathe {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Compare : ::testing::Test {
  // An index that is read, made anew.
  Affine read(const Tensor& tensor) const { return to_affine(tensor(i)); }

  Var i{"i"};
  Tensor s{"s", {4}, DType::i32};
  Tensor t{"t", {4}, DType::i32};
  Tensor x{"x", {4}};
};

// Neither the order in which they are made nor where they lie in memory tells.
TEST_F(Compare, SumsOfReadIndicesHaveOneForm) {
  const Affine first = read(s) + read(t) + i;
  const Affine second = Affine(i) + read(t) + read(s);
  EXPECT_EQ(to_string(first), to_string(second));
  EXPECT_TRUE(first == second);
  EXPECT_EQ(to_string(read(t) + read(s) - read(t)), "i64(s[i])");
}

TEST_F(Compare, IsATotalOrder) {
  const std::vector<Expr> ascending = {x(i) + 1.0, x(i) + 2.0, x(i) * 1.0, exp(x(i)), Expr(kNan)};
  for (const Expr& a : ascending) {
    EXPECT_EQ(compare(a, a), 0);
    for (const Expr& b : ascending) {
      EXPECT_EQ(compare(a, b), -compare(b, a)) << to_string(a) << " and " << to_string(b);
      EXPECT_EQ(compare(a, b) == 0, a.get() == b.get());
    }
  }
  EXPECT_EQ(compare(ascending[0], ascending[1]), -1);
  EXPECT_EQ(compare(ascending[1], ascending[2]), -1);
  EXPECT_TRUE(equal(x(i) + 1.0, x(i) + 1.0));
  EXPECT_TRUE(equal(Expr(kNan), Expr(kNan)));
  EXPECT_FALSE(equal(Expr(kNan), Expr(1.0)));
  EXPECT_FALSE(equal(s(i), t(i)));
}

}  // namespace
}  // namespace lathe
