// What loops and conditions around a place prove, and what they do not.
#include "lower/blocks/known.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

// Loops i in 4 and j in 8.
class KnownTest : public ::testing::Test {
 protected:
  KnownTest() {
    known_.enter({i_, {Affine(4)}, LoopKind::serial, nullptr});
    known_.enter({j_, {Affine(8)}, LoopKind::serial, nullptr});
  }

  Known known_;
  const Var i_{"i"};
  const Var j_{"j"};
};

// Ranges alone, as tight as they are.
TEST_F(KnownTest, Ranges) {
  EXPECT_TRUE(known_.at_most(Affine(i_), 3));
  EXPECT_FALSE(known_.at_most(Affine(i_), 2));
  EXPECT_TRUE(known_.at_most(Affine(i_) * 8 + Affine(j_), 31));
  EXPECT_FALSE(known_.at_most(Affine(i_) * 8 + Affine(j_), 30));
  EXPECT_TRUE(known_.at_most(Affine(i_) * -1, 0));
  EXPECT_FALSE(known_.at_most(Affine(Var("unknown")), 1000));
}

// A conjunct holds where its value stays below the bound, fails where it never does.
TEST_F(KnownTest, HoldsAndFails) {
  EXPECT_TRUE(known_.holds({Affine(j_), 8}));
  EXPECT_FALSE(known_.holds({Affine(j_), 7}));
  EXPECT_FALSE(known_.fails({Affine(j_), 7}));
  EXPECT_TRUE(known_.fails({Affine(j_) + 7, 7}));
  EXPECT_FALSE(known_.fails({Affine(j_) + 6, 7}));
}

// A condition on one variable shrinks its range, from either end.
TEST_F(KnownTest, ConditionsOnOneVariable) {
  known_.assume({Affine(j_) + 2, 7});
  EXPECT_TRUE(known_.at_most(Affine(j_), 4));
  EXPECT_FALSE(known_.at_most(Affine(j_), 3));
  known_.assume({Affine(j_) * -1 + 2, 1});
  EXPECT_TRUE(known_.at_most(Affine(j_) * -1, -2));
  EXPECT_FALSE(known_.at_most(Affine(j_) * -1, -3));
  EXPECT_EQ(*known_.ranges().find(j_.atom().get()), (Interval{2, 4}));
}

// What contradicts the range leaves one value: the place is never reached.
TEST_F(KnownTest, ContradictionsLeaveARange) {
  Known above = known_;
  above.assume({Affine(i_), -5});
  EXPECT_EQ(*above.ranges().find(i_.atom().get()), (Interval{0, 0}));
  known_.assume({Affine(i_) * -1, -20});
  EXPECT_EQ(*known_.ranges().find(i_.atom().get()), (Interval{3, 3}));
}

// A condition on a sum is a fact, also for its multiples and what adds to them.
TEST_F(KnownTest, ConditionsOnSums) {
  const Affine sum = Affine(i_) * 8 + Affine(j_);
  known_.assume({sum, 20});
  EXPECT_TRUE(known_.at_most(sum, 19));
  EXPECT_FALSE(known_.at_most(sum, 18));
  EXPECT_TRUE(known_.at_most(sum * 3 + 1, 58));
  EXPECT_TRUE(known_.at_most(sum + Affine(i_), 22));
  // Nothing follows for what it is taken from.
  EXPECT_FALSE(known_.at_most(sum * -1, -1));
  EXPECT_TRUE(known_.at_most(Affine(i_) * 8, 24));
}

// One fact at a time is used, not two.
TEST_F(KnownTest, OneFact) {
  const Var k("k");
  known_.enter({k, {Affine(100)}, LoopKind::serial, nullptr});
  known_.assume({Affine(i_) + Affine(k), 10});
  known_.assume({Affine(j_) - Affine(k), 2});
  EXPECT_TRUE(known_.at_most(Affine(i_) + Affine(k), 9));
  EXPECT_TRUE(known_.at_most(Affine(j_) - Affine(k), 1));
  EXPECT_FALSE(known_.at_most(Affine(i_) * 2 + Affine(j_) + Affine(k), 16));
}

// The extent of a loop that ends with its tile: its largest gives the range, each of its forms a fact.
TEST_F(KnownTest, VaryingExtents) {
  const Var t("t");
  known_.enter({t, {Affine(8), Affine(i_) * -8 + 29}, LoopKind::serial, nullptr});
  EXPECT_TRUE(known_.at_most(Affine(t), 7));
  EXPECT_TRUE(known_.at_most(Affine(i_) * 8 + Affine(t), 28));
  EXPECT_FALSE(known_.at_most(Affine(i_) * 8 + Affine(t), 27));
}

// A condition with tail=pad may go again: nothing follows of it.
TEST_F(KnownTest, PaddingProvesNothing) {
  known_.assume({Affine(j_), 5, -1, Tail::pad});
  known_.assume({Affine(i_) + Affine(j_), 5, -1, Tail::pad});
  EXPECT_FALSE(known_.at_most(Affine(j_), 6));
  EXPECT_FALSE(known_.at_most(Affine(i_) + Affine(j_), 9));
}

}  // namespace
}  // namespace lathe
