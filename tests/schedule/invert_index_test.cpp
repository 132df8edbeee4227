// An index as a mixed-radix number: its digits are what the axes are made of.
#include "schedule/invert_index.h"

#include <gtest/gtest.h>

#include "expr/print.h"

namespace lathe {
namespace {

// Axes a, b, c of 2, 3 and 4 elements and a place p.
class InvertIndex : public ::testing::Test {
 protected:
  InvertIndex() {
    for (const Axis& axis : axes_) domains_.set_extent(axis.var, axis.extent);
  }

  Affine a() const { return Affine(axes_[0].var); }
  Affine b() const { return Affine(axes_[1].var); }
  Affine c() const { return Affine(axes_[2].var); }

  // The axis in terms of p, where the index is at p; "none" if it cannot be told.
  std::string axis_of(const Affine& index, const Affine& axis) const {
    IndexInverter inverter(domains_);
    if (!inverter.equate(index, p_)) return "not a number";
    const auto value = inverter.axis(*axis.as_var());
    return value ? to_string(*value) : inverter.constrains(*axis.as_var()) ? "unclear" : "free";
  }

  std::vector<Axis> axes_ = {spatial("a", 2), spatial("b", 3), spatial("c", 4)};
  Ranges domains_;
  Affine p_ = Affine(Var("p"));
};

// An axis alone is the place itself, less the offset.
TEST_F(InvertIndex, AnAxisAlone) {
  EXPECT_EQ(axis_of(b(), b()), "p");
  EXPECT_EQ(axis_of(b() + 2, b()), "p - 2");
  EXPECT_EQ(axis_of(b() + 2, a()), "free");
}

// Digits in any order of writing; the highest is not reduced.
TEST_F(InvertIndex, SeveralDigits) {
  const Affine number = c() + a() * 12 + b() * 4;
  EXPECT_EQ(axis_of(number, c()), "p%4");
  EXPECT_EQ(axis_of(number, b()), "(p/4)%3");
  EXPECT_EQ(axis_of(number, a()), "p/12");
  // (p - 1)/4 modulo 3, without negative numbers.
  EXPECT_EQ(axis_of(number + 1, b()), "((p + 3)/4 + 2)%3");
}

// What is no mixed-radix number: steps, gaps, overlaps, falling places.
TEST_F(InvertIndex, OtherSums) {
  for (const Affine& index : {b() * 2, a() * 4 + b(), a() * 2 + b(), b() * -1 + 2}) {
    EXPECT_EQ(axis_of(index, b()), "not a number") << to_string(index);
  }
}

// Of an axis' quotients and remainders all have to be there, each once.
TEST_F(InvertIndex, PartsOfAnAxis) {
  EXPECT_EQ(axis_of(floor_div(c(), 2), c()), "unclear");
  EXPECT_EQ(axis_of(modulo(c(), 2), c()), "unclear");
  // c = 2*(c/2) + c%2, stored the other way around: c%2 counts twos.
  EXPECT_EQ(axis_of(modulo(c(), 2) * 2 + floor_div(c(), 2), c()), "p/2 + 2*(p%2)");
  EXPECT_EQ(axis_of(floor_div(c(), 2) * 2 + modulo(c(), 2), c()), "2*(p/2) + p%2");
}

// The parts may lie in different dimensions.
TEST_F(InvertIndex, PartsInSeveralDimensions) {
  IndexInverter inverter(domains_);
  const Affine tile(Var("tile"));
  const Affine inside(Var("inside"));
  ASSERT_TRUE(inverter.equate(floor_div(c(), 2), tile));
  EXPECT_FALSE(inverter.axis(axes_[2].var).has_value());
  ASSERT_TRUE(inverter.equate(modulo(c(), 2), inside));
  EXPECT_EQ(to_string(inverter.axis(axes_[2].var).value()), "2*tile + inside");
  // The axis is named a third time: a condition on the places, which nobody checks.
  ASSERT_TRUE(inverter.equate(c(), inside));
  EXPECT_FALSE(inverter.axis(axes_[2].var).has_value());
}

// Whether a read can be followed at all: axes that it does not vary with are no matter.
TEST_F(InvertIndex, IsInvertible) {
  EXPECT_TRUE(is_invertible({a(), c()}, axes_));
  EXPECT_TRUE(is_invertible({floor_div(c(), 2), modulo(c(), 2), a()}, axes_));
  EXPECT_TRUE(is_invertible({}, axes_));
  EXPECT_FALSE(is_invertible({floor_div(c(), 2), a()}, axes_));
  EXPECT_FALSE(is_invertible({b() * 2}, axes_));
  EXPECT_FALSE(is_invertible({b(), b()}, axes_));
}

}  // namespace
}  // namespace lathe
