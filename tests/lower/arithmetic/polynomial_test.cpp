// Numbers of a type, and polynomials in them.
#include "lower/arithmetic/polynomial.h"

#include <gtest/gtest.h>

#include "expr/print.h"

namespace lathe {
namespace {

// Horner's scheme, from the highest power inwards.
TEST(Polynomial, HornersScheme) {
  const Arithmetic in({DType::f64, 1});
  const Tensor x("X", {4}, DType::f64);
  const Expr value = load(x, {Affine(2)});
  EXPECT_EQ(to_string(in.polynomial({1, 2, 3}, value)), "(f64(3.0) * X[2] + f64(2.0)) * X[2] + f64(1.0)");
  EXPECT_EQ(to_string(in.polynomial({1.5}, value)), "f64(1.5)");
}

// Numbers are rounded to f32 where that is the type, and stand in every lane.
TEST(Polynomial, NumbersOfTheType) {
  EXPECT_EQ(Arithmetic({DType::f32, 1}).number(0.1).as<Literal>()->value, static_cast<double>(0.1F));
  EXPECT_EQ(Arithmetic({DType::f64, 1}).number(0.1).as<Literal>()->value, 0.1);
  const Expr lanes = Arithmetic({DType::f32, 8}).number(2);
  EXPECT_EQ(lanes.type(), (Type{DType::f32, 8}));
  EXPECT_EQ(to_string(lanes), "broadcast(2.0, 8)");
}

}  // namespace
}  // namespace lathe
