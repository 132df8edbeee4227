// What may come out where operands are off by a little: everything that operands within their errors give,
// and not much more.
#include "check/approximate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/rng.h"
#include "loop/interpreter/arithmetic.h"

namespace lathe::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = 0x1p-23;

double error_of(BinaryOp op, Approximate a, Approximate b, DType dtype = DType::f32) {
  return apply(dtype, op, a, b).error;
}
double error_of(UnaryOp op, Approximate a) { return apply(DType::f32, op, a).error; }

TEST(Approximate, ExactOperandsLeaveTheRoundingOfTheOperation) {
  EXPECT_EQ(error_of(BinaryOp::min, {3, 0}, {4, 0}), 0);
  EXPECT_EQ(error_of(UnaryOp::negate, {3, 0}), 0);
  EXPECT_EQ(error_of(UnaryOp::floor, {3.5, 0}), 0);
  EXPECT_EQ(error_of(BinaryOp::mul, {0, 0}, {4, 0}), 0) << "nothing is rounded about 0";
  EXPECT_NEAR(error_of(BinaryOp::add, {3, 0}, {4, 0}), 7 * kEpsilon, 1e-30);
  EXPECT_NEAR(error_of(BinaryOp::div, {3, 0}, {4, 0}), 0.75 * kEpsilon, 1e-30);
  EXPECT_EQ(error_of(BinaryOp::add, {3, 0}, {4, 0}, DType::i32), 0);
  EXPECT_LT(error_of(BinaryOp::add, {3, 0}, {4, 0}, DType::f64), 1e-14);
}

TEST(Approximate, BitsAreThoseOfTheNumberOrAnything) {
  const Approximate masked = apply(DType::u32, BinaryOp::bit_and, {12, 0}, {10, 0});
  EXPECT_EQ(masked.value, 8);
  EXPECT_EQ(masked.error, 0);
  EXPECT_EQ(error_of(BinaryOp::bit_xor, {12, 1}, {10, 0}, DType::u32), kInfinity);
  EXPECT_EQ(bits_kept(DType::f32, DType::u32, {1, 0}).value, 0x3f800000);
  EXPECT_EQ(bits_kept(DType::f32, DType::u32, {1, 0}).error, 0);
  EXPECT_EQ(bits_kept(DType::f32, DType::u32, {1, kEpsilon}).error, 2) << "they rise with the number";
  EXPECT_EQ(bits_kept(DType::f32, DType::u32, {kEpsilon, 1}).error, kInfinity) << "its sign is open";
  EXPECT_EQ(error_of(BinaryOp::bit_and, {21, 1}, {0xfffffff0, 0}, DType::u32), 0);
  EXPECT_EQ(error_of(BinaryOp::bit_and, {16, 1}, {0xfffffff0, 0}, DType::u32), 16);
  EXPECT_EQ(error_of(BinaryOp::bit_and, {16, 1}, {0x70, 0}, DType::u32), kInfinity);
}

// Each operation at random operands within their errors.
TEST(Approximate, WhatOperandsWithinTheirErrorsGiveIsWithinTheResults) {
  Rng rng(1);
  const auto within = [&](Approximate a) { return a.value + a.error * (2 * rng.uniform() - 1); };
  const auto random = [&] {
    return Approximate{8 * rng.uniform() - 4, rng.chance(0.3) ? 0 : std::exp(-12 * rng.uniform())};
  };
  const std::vector<BinaryOp> binaries = {BinaryOp::add, BinaryOp::sub, BinaryOp::mul,
                                          BinaryOp::div, BinaryOp::mod, BinaryOp::min,
                                          BinaryOp::max, BinaryOp::pow, BinaryOp::copy_sign};
  const std::vector<UnaryOp> unaries = {
      UnaryOp::negate,   UnaryOp::exp,   UnaryOp::log,      UnaryOp::sqrt,    UnaryOp::tanh, UnaryOp::erf,
      UnaryOp::abs,      UnaryOp::floor, UnaryOp::sin,      UnaryOp::cos,     UnaryOp::ceil, UnaryOp::round,
      UnaryOp::truncate, UnaryOp::pow2,  UnaryOp::exponent, UnaryOp::mantissa};
  for (int i = 0; i < 100000; ++i) {
    const Approximate a = random();
    const Approximate b = random();
    const double x = within(a);
    const double y = within(b);
    const auto expect_within = [&](const Approximate& bound, double got, int op) {
      if (std::isinf(bound.error)) return;
      if (std::isnan(got) && std::isnan(bound.value)) return;
      EXPECT_LE(std::abs(got - bound.value), bound.error)
          << op << ": " << a.value << " +- " << a.error << ", " << b.value << " +- " << b.error << " at " << x
          << ", " << y;
    };
    for (const BinaryOp op : binaries)
      expect_within(apply(DType::f32, op, a, b), interpreter::apply(op, x, y), static_cast<int>(op));
    for (const UnaryOp op : unaries)
      expect_within(apply(DType::f32, op, a), interpreter::apply(op, x), static_cast<int>(op));
  }
}

TEST(Approximate, BesideAPoleAnyNumberIsRight) {
  EXPECT_EQ(error_of(BinaryOp::div, {1, 0}, {1e-9, 1e-8}), kInfinity);
  EXPECT_EQ(error_of(UnaryOp::log, {1e-9, 1e-8}), kInfinity);
  EXPECT_EQ(error_of(UnaryOp::sqrt, {-1e-9, 1e-8}), kInfinity) << "or none";
  EXPECT_LT(error_of(BinaryOp::div, {1, 0}, {0.5, 1e-8}), 1e-6);
  EXPECT_EQ(error_of(BinaryOp::div, {1, 0}, {0, 0}), 0) << "it is infinite for every program";
}

TEST(Approximate, BesideAStepTheOtherSideIsRightToo) {
  EXPECT_EQ(error_of(UnaryOp::floor, {2.9999999, 1e-6}), 1);
  EXPECT_EQ(error_of(UnaryOp::floor, {2.5, 1e-6}), 0);
  EXPECT_EQ(error_of(BinaryOp::less, {1, 1e-6}, {1.0000001, 0}), 1);
  EXPECT_EQ(error_of(BinaryOp::less, {1, 1e-6}, {1.1, 0}), 0);
  EXPECT_EQ(error_of(BinaryOp::less, {1, 0}, {1, 0}), 0) << "equal for every program";
  EXPECT_EQ(error_of(BinaryOp::logical_and, {1, 1}, {0, 0}), 0);
  EXPECT_EQ(error_of(BinaryOp::logical_and, {0, 1}, {1, 0}), 1);
  EXPECT_EQ(error_of(BinaryOp::logical_or, {0, 1}, {1, 0}), 0);
  EXPECT_EQ(converted(DType::f32, DType::i32, {2.9999999, 1e-6}).error, 1);
  EXPECT_EQ(converted(DType::f32, DType::i8, {1e9, 100}).error, 0) << "both saturate";
  EXPECT_EQ(converted(DType::f32, DType::boolean, {1e-9, 1e-8}).error, 1);
  EXPECT_EQ(either({3, 0.5}, {5, 0.25}).error, 2.25);
}

TEST(Approximate, MasksMakeNoErrors) {
  EXPECT_NEAR(error_of(BinaryOp::add, {-kInfinity, 0}, {3, 1e-6}), 1e-6, 1e-12);
  EXPECT_NEAR(error_of(BinaryOp::max, {-1e9, 100}, {3, 1e-6}), 1e-6, 1e-12);
  EXPECT_EQ(error_of(UnaryOp::exp, {-kInfinity, 0}), 0);
  EXPECT_EQ(rounded(DType::f32, {1e60, 0}).error, kInfinity) << "a float is infinite there";
}

Approximate reduced(Reduction reduction, DType dtype, const std::vector<Approximate>& terms) {
  ApproximateReduction result(reduction, dtype);
  for (const Approximate& term : terms) result.add(term);
  return result.result();
}

TEST(ApproximateReduction, ASumIsOffByItsTermsErrorsAndRoundings) {
  const Approximate sum = reduced(Reduction::sum, DType::f32, {{1000, 0}, {-1000, 1e-3}, {1, 0}, {0, 0}});
  EXPECT_EQ(sum.value, 1);
  EXPECT_GT(sum.error, 1e-3);
  EXPECT_LT(sum.error, 2e-3);
  EXPECT_EQ(reduced(Reduction::sum, DType::f32, {{5, 0}}).error, 0);
  EXPECT_EQ(reduced(Reduction::sum, DType::i32, {{5, 0}, {7, 2}, {7, 0}}).error, 2);
  EXPECT_EQ(reduced(Reduction::sum, DType::i8, {{100, 0}, {100, 0}}).value, -56);
  EXPECT_EQ(reduced(Reduction::sum, DType::f32, {{kInfinity, 0}, {7, 0}}).error, 0);
}

// Sums of floats in random orders and in several parts, of terms of one sign and of both.
TEST(ApproximateReduction, FloatsAreWithinTheBoundOfASum) {
  Rng rng(2);
  for (int i = 0; i < 2000; ++i) {
    const auto terms = 2 + rng.below(3000);
    const double mean = rng.chance(0.5) ? 0 : 3;
    std::vector<Approximate> values;
    std::vector<float> partial(1 + rng.below(16));
    for (uint64_t r = 0; r < terms; ++r) {
      const auto value = static_cast<float>(mean + 2 * rng.uniform() - 1);
      values.push_back({value, 0});
      partial[rng.below(partial.size())] += value;
    }
    float sum = 0;
    for (const float part : partial) sum += part;
    const Approximate bound = reduced(Reduction::sum, DType::f32, values);
    EXPECT_LE(std::abs(sum - bound.value), bound.error) << terms;
    EXPECT_LT(bound.error,
              4e-7 * std::sqrt(terms) * std::max(std::abs(bound.value), std::sqrt(12.0 * terms)));
  }
}

TEST(ApproximateReduction, AChoiceIsOffByWhatMayBeChosenInstead) {
  EXPECT_EQ(reduced(Reduction::max, DType::f32, {{1, 0}, {0.75, 0.5}, {-1e9, 100}}).error, 0.25);
  EXPECT_EQ(reduced(Reduction::min, DType::f32, {{1, 0}, {0.75, 0.5}}).error, 0.5);
  EXPECT_EQ(reduced(Reduction::max, DType::f32, {{-kInfinity, 0}, {-kInfinity, 0}}).error, 0);
}

TEST(ApproximateReduction, AProductGrowsByWhatItsFactorsMayBe) {
  const Approximate product = reduced(Reduction::product, DType::f32, {{2, 0}, {3, 0.5}, {-1, 0}});
  EXPECT_EQ(product.value, -6);
  EXPECT_NEAR(product.error, 1, 1e-5);
  EXPECT_EQ(reduced(Reduction::product, DType::i32, {{2, 0}, {3, 0}}).error, 0);
}

}  // namespace
}  // namespace lathe::testing
