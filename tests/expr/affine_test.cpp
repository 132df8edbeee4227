#include "expr/affine.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/rng.h"
#include "expr/expr.h"

namespace lathe {
namespace {

int64_t floor_quotient(int64_t a, int64_t b) { return a / b - ((a % b != 0) && (a < 0)); }

struct AffineTest : ::testing::Test {
  AffineTest() {
    ranges.set_extent(i, 4);
    ranges.set_extent(j, 8);
    ranges.set(k, {-3, 5});
  }
  Var i{"i"};
  Var j{"j"};
  Var k{"k"};
  Ranges ranges;
};

TEST_F(AffineTest, TermsJoinAndCancel) {
  const Affine a = Affine(i) * 2 + j + 3;
  EXPECT_EQ(to_string(a), "2*i + j + 3");
  EXPECT_EQ(a, Affine(3) + j + Affine(i) + i);
  EXPECT_EQ(to_string(a - a), "0");
  EXPECT_EQ(to_string(a - Affine(i) * 3 - 4), "-i + j - 1");
  EXPECT_EQ(to_string(a * -1), "-2*i - j - 3");
  EXPECT_TRUE((a * 0).is(0));
  EXPECT_EQ(a.coefficient(i), 2);
  EXPECT_EQ(a.coefficient(k), 0);
  EXPECT_FALSE(a.as_var().has_value());
  EXPECT_EQ((a - i - i - 3).as_var(), j);
}

TEST_F(AffineTest, WhatIsForgottenIsNotKnown) {
  ranges.forget(j);
  ranges.forget(Var("i"));
  EXPECT_EQ(ranges.find(j.atom().get()), nullptr);
  EXPECT_EQ(*ranges.find(i.atom().get()), (Interval{0, 3}));
  EXPECT_EQ(*ranges.find(k.atom().get()), (Interval{-3, 5}));
}

TEST_F(AffineTest, VariablesAreEqualByIdentityOnly) {
  const Var other("i");
  EXPECT_FALSE(Affine(i) == Affine(other));
  EXPECT_EQ(to_string(Affine(i) + other), "i + i");
}

TEST_F(AffineTest, DivisionsByStructure) {
  EXPECT_EQ(to_string(floor_div(Affine(i) * 8 + Affine(j) * 4 + 9, 4)), "2*i + j + 2");
  EXPECT_EQ(to_string(floor_div(Affine(i) * 8 + j + 9, 4)), "2*i + (j + 1)/4 + 2");
  EXPECT_EQ(to_string(modulo(Affine(i) * 8 + j + 9, 4)), "(j + 1)%4");
  EXPECT_EQ(to_string(floor_div(floor_div(j, 3), 5)), "j/15");
  EXPECT_EQ(to_string(modulo(modulo(j, 12), 4)), "j%4");
  EXPECT_EQ(to_string(floor_div(modulo(j, 12), 4)), "(j/4)%3");
  EXPECT_TRUE(modulo(j, 1).is(0));
  EXPECT_EQ(floor_div(j, 1), Affine(j));
  EXPECT_EQ(floor_div(-7, 2), Affine(-4));
  EXPECT_EQ(modulo(-7, 2), Affine(1));
  EXPECT_EQ(to_string(floor_div(i, 3) * 2), "2*(i/3)");
  EXPECT_EQ(to_string(floor_div(i, 3) * -1), "-(i/3)");
  EXPECT_EQ(to_string(Affine(j) - floor_div(i, 3)), "j - i/3");
}

TEST_F(AffineTest, DivisionsThatRangesSettle) {
  EXPECT_EQ(floor_div(Affine(j) * 4 + i, 4, ranges), Affine(j));
  EXPECT_EQ(modulo(Affine(j) * 4 + i, 4, ranges), Affine(i));
  EXPECT_EQ(floor_div(Affine(i) + 8, 4, ranges), Affine(2));
  EXPECT_EQ(modulo(Affine(i) + 8, 4, ranges), Affine(i));
  EXPECT_EQ(floor_div(Affine(i) - 4, 4, ranges), Affine(-1));
  const Affine blocked = floor_div(j, 4) * 4 + modulo(j, 4);
  EXPECT_EQ(simplify(blocked, ranges), Affine(j));
  EXPECT_EQ(simplify(floor_div(Affine(i) + k, 16) + j, ranges).uses(k), true);
  EXPECT_EQ(simplify(blocked * 3 + i, ranges), Affine(j) * 3 + i);
  Ranges fixed = ranges;
  fixed.set(k, {2, 2});
  EXPECT_EQ(simplify(Affine(k) * 5 + i, fixed), Affine(i) + 10);
}

TEST_F(AffineTest, DivisionsSeeWholeMultiples) {
  const Affine tile = Affine(i) * 8 + j;
  EXPECT_EQ(to_string(floor_div(tile, 24, ranges)), "i/3");
  EXPECT_EQ(to_string(modulo(tile, 24, ranges)), "j + 8*(i%3)");
  EXPECT_EQ(to_string(floor_div(tile + 1, 24, ranges)), "(8*i + j + 1)/24");
}

// A place of a flattened tensor, taken apart and put together again, is what it was.
TEST_F(AffineTest, DigitsJoinToTheirNumber) {
  for (const Affine& place :
       {Affine(i), Affine(i) * 6 + j, Affine(i) * 12 + Affine(j) * 3 + 1, Affine(i) * 35 + j}) {
    for (const auto& [y, x] : {std::pair(5, 3), std::pair(7, 4), std::pair(8, 12), std::pair(2, 2)}) {
      const Affine outer = floor_div(place, int64_t{y} * x) * (int64_t{y} * x);
      const Affine digits = outer + modulo(floor_div(place, x), y) * x + modulo(place, x);
      EXPECT_EQ(to_string(simplify(digits, ranges)), to_string(place)) << y << " " << x;
    }
  }
}

TEST_F(AffineTest, TheLowerDigitsOfANumberJoinToItsRemainder) {
  const Affine number = Affine(i) * 35 + j;
  for (const auto& [y, x] : {std::pair(5, 3), std::pair(7, 4), std::pair(2, 2)}) {
    const Affine digits = modulo(floor_div(number, x), y) * (int64_t{3} * x) + modulo(number, x) * 3;
    EXPECT_EQ(simplify(digits, ranges), modulo(number, int64_t{y} * x, ranges) * 3) << y << " " << x;
  }
  // Where the join gives a digit that joins in turn.
  const Affine once = floor_div(modulo(k, 3) + modulo(floor_div(k, 3), 6) * 3, 2) + floor_div(k, 18) * 9;
  EXPECT_EQ(simplify(once, ranges), floor_div(k, 2));
  // A product of divisors that no integer holds.
  const int64_t huge = int64_t{1} << 40;
  const Affine apart = modulo(floor_div(number, huge), huge) * huge + modulo(number, huge);
  Ranges unknown;
  EXPECT_EQ(simplify(apart, unknown), apart);
}

// A coefficient times an inner divisor that no integer holds: what wraps round may look like a quotient.
TEST_F(AffineTest, DigitsWithHugeNumbersStayApart) {
  Ranges wide;
  wide.set_extent(i, 100000);
  wide.set_extent(j, 2);
  const Affine sum = floor_div(i, 16384) + Affine(j) * 1125899906842625;
  const Affine digits = modulo(sum, 3) + floor_div(Affine(i) + Affine(j) * 16384, 49152) * 3;
  EXPECT_EQ(to_string(simplify(digits, wide)), to_string(digits));
}

// Divisors whose product no integer holds stay apart.
TEST_F(AffineTest, DivisionsByHugeNumbersStayApart) {
  const int64_t huge = int64_t{1} << 40;
  EXPECT_EQ(to_string(floor_div(floor_div(k, huge), huge)), "(k/1099511627776)/1099511627776");
}

// 3 * i + j takes 0 .. 16 by itself; where a condition keeps it below 10, it is a digit of a number to the
// base 10.
TEST_F(AffineTest, LimitsOfSumsSettleDivisions) {
  const Affine digit = Affine(i) * 3 + j;
  const Affine number = Affine(k) * 10 + digit;
  EXPECT_NE(modulo(number, 10, ranges), digit);
  Ranges limited = ranges;
  limited.set_limit(digit + 1, 10);
  EXPECT_EQ(bounds(digit, limited), (Interval{0, 9}));
  EXPECT_EQ(bounds(digit + 5, limited), (Interval{5, 14}));
  EXPECT_EQ(bounds(Affine(i) * 3, limited), (Interval{0, 9}));
  EXPECT_EQ(bounds(digit * 2, limited), (Interval{0, 32}));
  EXPECT_EQ(simplify(modulo(number, 10), limited), digit);
  EXPECT_EQ(simplify(floor_div(number, 10), limited), Affine(k));
}

TEST_F(AffineTest, Bounds) {
  EXPECT_EQ(bounds(Affine(i) * 2 - Affine(k) + 1, ranges), (Interval{-4, 10}));
  EXPECT_EQ(bounds(floor_div(k, 2), ranges), (Interval{-2, 2}));
  EXPECT_EQ(bounds(modulo(k, 4), ranges), (Interval{0, 3}));
  EXPECT_EQ(bounds(Var("free"), ranges), std::nullopt);
  const Tensor s("s", {8}, DType::i32);
  EXPECT_EQ(bounds(to_affine(s(j)), ranges), std::nullopt);
}

TEST_F(AffineTest, UsesLookInsideAtoms) {
  const Tensor s("s", {8}, DType::i32);
  const Affine a = floor_div(i, 3) + to_affine(s(j)) * 2;
  EXPECT_TRUE(a.uses(i) && a.uses_inside_atom(i));
  EXPECT_TRUE(a.uses(j) && a.uses_inside_atom(j));
  EXPECT_FALSE(a.uses(k));
  EXPECT_FALSE(Affine(k).uses_inside_atom(k));
  std::vector<Var> vars;
  collect_vars(a + k, vars);
  EXPECT_EQ(vars.size(), 3u);
  EXPECT_EQ(to_string(substitute(a, {{i, 5}, {j, k}})), "2*i64(s[k]) + 1");
}

// A random form over i, j, k as an affine value, with a function that computes it.
struct Sample {
  Affine affine;
  std::function<int64_t(const std::vector<int64_t>&)> value;
};

Sample random_form(Rng& rng, const std::vector<Var>& vars, int depth) {
  Sample sum{Affine(rng.between(-9, 9)), nullptr};
  sum.value = [c = sum.affine.constant()](const std::vector<int64_t>&) { return c; };
  for (uint64_t terms = 1 + rng.below(3); terms-- > 0;) {
    Sample term;
    if (depth == 0 || rng.chance(0.4)) {
      const size_t v = rng.below(vars.size());
      term = {Affine(vars[v]), [v](const std::vector<int64_t>& at) { return at[v]; }};
    } else {
      const Sample inner = random_form(rng, vars, depth - 1);
      const int64_t d = rng.between(1, 12);
      if (rng.chance(0.5)) {
        term = {floor_div(inner.affine, d),
                [=](const auto& at) { return floor_quotient(inner.value(at), d); }};
      } else {
        term = {modulo(inner.affine, d), [=](const auto& at) {
                  const int64_t x = inner.value(at);
                  return x - floor_quotient(x, d) * d;
                }};
      }
    }
    const int64_t factor = rng.between(-12, 12);
    sum.affine += term.affine * factor;
    sum.value = [=, left = sum.value](const auto& at) { return left(at) + term.value(at) * factor; };
  }
  return sum;
}

// What construction, simplification, substitution and bounds say is true of every value.
TEST_F(AffineTest, AgreesWithBruteForce) {
  Rng rng(5);
  const std::vector<Var> vars = {i, j, k};
  for (int round = 0; round < 1500; ++round) {
    const Sample form = random_form(rng, vars, 3);
    const Affine simplified = simplify(form.affine, ranges);
    const std::optional<Interval> interval = bounds(form.affine, ranges);
    const std::optional<Interval> tight = bounds(simplified, ranges);
    ASSERT_TRUE(interval && tight);
    for (int64_t x = 0; x < 4; ++x) {
      for (int64_t y = 0; y < 8; ++y) {
        for (int64_t z = -3; z <= 5; ++z) {
          const int64_t expected = form.value({x, y, z});
          const Substitution at = {{i, x}, {j, y}, {k, z}};
          ASSERT_TRUE(substitute(form.affine, at).is(expected)) << to_string(form.affine);
          ASSERT_TRUE(substitute(simplified, at).is(expected))
              << to_string(form.affine) << " -> " << to_string(simplified);
          ASSERT_TRUE(interval->lo <= expected && expected <= interval->hi) << to_string(form.affine);
          ASSERT_TRUE(tight->lo <= expected && expected <= tight->hi) << to_string(simplified);
        }
      }
    }
  }
}

// Equal sums are one value, in whatever order they are added up.
TEST_F(AffineTest, SumsAreCanonical) {
  Rng rng(6);
  const std::vector<Var> vars = {i, j, k};
  for (int round = 0; round < 500; ++round) {
    const Affine a = random_form(rng, vars, 2).affine;
    const Affine b = random_form(rng, vars, 2).affine;
    const Affine c = random_form(rng, vars, 2).affine;
    EXPECT_EQ(a + b + c, c + (b + a));
    EXPECT_TRUE((a + b - a - b).is(0));
    EXPECT_EQ(compare(a, b), -compare(b, a));
    EXPECT_EQ(compare(a, b) == 0, a == b);
    EXPECT_EQ(a * 3 + a * -2, a);
  }
}

// The number of a row of an image in tiles of seven rows, read as image, row and column.
TEST(Affine, DigitsOfAMixedRadixJoinWhereOneIsADigitItself) {
  const Var t("t");
  const Affine image = floor_div(modulo(Affine(t), 64), 20);
  const Affine row = modulo(modulo(floor_div(Affine(t), 2), 32), 10);
  const Affine column = modulo(Affine(t), 2);
  Ranges ranges;
  ranges.set_extent(t, 192);
  EXPECT_EQ(simplify(image * 140 + row * 14 + column * 7, ranges), modulo(Affine(t), 64) * 7);
}

}  // namespace
}  // namespace lathe
