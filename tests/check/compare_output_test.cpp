// When an element counts as right, by its type.
#include "check/compare_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace lathe::testing {
namespace {

constexpr double kTolerance = 1e-5;
constexpr double kLargest = std::numeric_limits<float>::max();

// Whose elements are these numbers, each off by no more than its error.
ElementBound bounds(std::vector<Approximate> elements) {
  return [elements = std::move(elements)](int64_t position) -> Result<Approximate> {
    return elements[static_cast<size_t>(position)];
  };
}

ElementBound exact(const std::vector<double>& expected) {
  std::vector<Approximate> elements;
  for (const double value : expected) elements.push_back({value, 0});
  return bounds(std::move(elements));
}

// The sentence about what is wrong, the same from both comparisons; empty: all is right.
template <class T>
std::string fault_of(DType dtype, const std::vector<double>& expected, const std::vector<T>& got,
                     const ElementBound& bound) {
  const auto size = static_cast<int64_t>(expected.size());
  Reference reference{Tensor("C", {size}, dtype), {}, expected};
  for (int64_t i = 0; i < size; ++i) reference.positions.push_back(i);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(got));
  const Layout layout = Layout::row_major(1);
  double largest = 0;
  const Status points = compare_points(reference, layout, bytes, kTolerance, bound);
  const Status all = compare_all(reference, layout, bytes, kTolerance, bound, largest);
  EXPECT_EQ(points.has_value(), all.has_value());
  EXPECT_TRUE(!all || largest <= kTolerance);
  return all ? "" : all.error().message;
}

template <class T>
std::string fault_of(DType dtype, const std::vector<double>& expected, const std::vector<T>& got) {
  return fault_of(dtype, expected, got, exact(expected));
}

std::string fault_of(double expected, float got) {
  return fault_of<float>(DType::f32, {1, expected}, {1, got});
}

TEST(CompareOutput, BeyondTheTypeTheInfinityOfTheSameSignIsRight) {
  EXPECT_EQ(fault_of(1e60, INFINITY), "");
  EXPECT_EQ(fault_of(-1e60, -INFINITY), "");
  EXPECT_EQ(fault_of(INFINITY, INFINITY), "");
  EXPECT_EQ(fault_of(1e60, -INFINITY), "C[1] is -inf where the reference is 1e+60");
  EXPECT_NE(fault_of(1e60, std::numeric_limits<float>::max()), "");
  EXPECT_NE(fault_of(1e60, NAN), "");
  EXPECT_NE(fault_of(INFINITY, 1), "");
}

// Hardware may flush them, and their sum with others.
TEST(CompareOutput, SubnormalsMayBeZero) {
  EXPECT_EQ(fault_of<float>(DType::f32, {1e-38, 0, 0}, {0, -1e-38F, 1e-45F}), "");
  EXPECT_NE(fault_of<float>(DType::f32, {3e-38, 1e-38}, {0, 0}), "");
  EXPECT_EQ(fault_of<double>(DType::f64, {1e-308, 0}, {0, 0}), "");
  EXPECT_NE(fault_of<double>(DType::f64, {1e-38, 0}, {0, 0}), "");
  const std::vector<float> zero = {0};
  Reference sum{Tensor("C", {1}, DType::f32), {0}, {1e-36}};
  const auto is_right = [&] {
    return compare_points(sum, Layout::row_major(1), std::as_bytes(std::span(zero)), kTolerance,
                          exact(sum.expected))
        .has_value();
  };
  EXPECT_FALSE(is_right());
  sum.terms = 64;
  EXPECT_TRUE(is_right());
}

TEST(CompareOutput, AnInfinityIsWrongWhereTheTypeHoldsTheReference) {
  EXPECT_EQ(fault_of(2, INFINITY), "C[1] is inf where the reference is 2");
  EXPECT_NE(fault_of(1e38, INFINITY), "");
  EXPECT_EQ(fault_of(kLargest, INFINITY), "") << "one rounding away";
}

// Else one infinite element would make all others right.
TEST(CompareOutput, TheMagnitudeIsThatOfNumbersThatTheTypeHolds) {
  EXPECT_EQ(magnitude_of(DType::f32, std::vector<double>{-3, 1e60, INFINITY}), 3);
  EXPECT_EQ(magnitude_of(DType::f64, std::vector<double>{-3, 100, INFINITY}), 100);
  EXPECT_EQ(magnitude_of(DType::f32, std::vector<double>{0, INFINITY}), 0);
  EXPECT_EQ(fault_of<float>(DType::f32, {1e60, 1}, {INFINITY, 2}), "C[1] is 2 where the reference is 1");
}

TEST(CompareOutput, AMaskForgivesNothingElsewhere) {
  EXPECT_EQ(magnitude_of(DType::f32, std::vector<double>{1, 2, 0, -1e30, -1e30}), 2);
  EXPECT_EQ(magnitude_of(DType::f32, std::vector<double>{1, 1, 1}), 1);
  EXPECT_NE(fault_of<float>(DType::f32, {1, -1e30, -1e30, 1}, {1, -1e30F, -1e30F, 1.01F}), "");
}

// Beside a pole a few numbers are much larger than the others.
TEST(CompareOutput, AFewLargeNumbersForgiveLittleElsewhere) {
  std::vector<double> expected(1000, 1);
  expected[3] = 1e8;
  expected[7] = 2;
  EXPECT_EQ(magnitude_of(DType::f32, expected), 64);
  std::vector<float> values(expected.begin(), expected.end());
  EXPECT_EQ(fault_of<float>(DType::f32, expected, values), "");
  values[3] = 1e8F + 96;
  EXPECT_EQ(fault_of<float>(DType::f32, expected, values), "");
  values[5] = 1.01F;
  EXPECT_NE(fault_of<float>(DType::f32, expected, values), "");
}

// Most of what a softmax leaves is tiny, and held to its own bound.
TEST(CompareOutput, LargeNumbersForgiveLittleToManyTinyOnes) {
  std::vector<double> expected(1000, 1e-9);
  for (size_t i = 0; i < 20; ++i) expected[i * 50] = 0.9 + 0.001 * static_cast<double>(i);
  EXPECT_DOUBLE_EQ(magnitude_of(DType::f32, expected), 64e-9);
}

TEST(CompareOutput, AnElementMayBeAsFarOffAsItsBoundSays) {
  const auto fault = [](float got, float free = 1e30F) {
    return fault_of<float>(DType::f32, {1, 1000, 1}, {1, got, free},
                           bounds({{1, 0}, {1000, 5}, {1, INFINITY}}));
  };
  EXPECT_EQ(fault(1004), "");
  EXPECT_EQ(fault(996), "");
  EXPECT_EQ(fault(1005.5), "C[1] is 1005.5 where the reference is 1000");
  EXPECT_EQ(fault(INFINITY), "C[1] is inf where the reference is 1000");
  EXPECT_NE(fault(NAN), "");
  EXPECT_EQ(fault(1000, NAN), "") << "a root of what may be negative";
  EXPECT_NE(fault(1000, std::bit_cast<float>(0xffffffffU)), "") << "it was never written";
}

TEST(CompareOutput, OnlyWhatIsBeyondTheToleranceIsAskedForItsBound) {
  int asked = 0;
  const ElementBound counted = [&](int64_t) -> Result<Approximate> {
    ++asked;
    return Approximate{1, 0.5};
  };
  EXPECT_EQ(fault_of<float>(DType::f32, {1, 1, 1, 1}, {1, 1.000001F, 1.25F, 1}, counted), "");
  EXPECT_EQ(asked, 2) << "once by each comparison";
  const ElementBound ended = [](int64_t) -> Result<Approximate> {
    return fail(ErrorKind::timeout, "there was no time");
  };
  EXPECT_EQ(fault_of<float>(DType::f32, {1}, {2}, ended), "there was no time");
}

// Whether another one is no number is asked where one is found that was not sampled.
TEST(CompareOutput, ANanThatWasNotSampledIsWrongWhereTheReferenceIsANumber) {
  const Reference reference{Tensor("C", {3}, DType::f32), {0}, {1}};
  const std::vector<float> got = {1, NAN, 3};
  const auto fault = [&](double value) {
    const Status status = compare_points(reference, Layout::row_major(1), std::as_bytes(std::span(got)),
                                         kTolerance, bounds({{1, 0}, {value, 0}, {3, 0}}));
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(fault(2), "C[1] is nan where the reference is 2");
  EXPECT_EQ(fault(NAN), "");
}

TEST(CompareOutput, IntegersAreTheSameOrWrong) {
  const int64_t large = int64_t{1} << 53;
  EXPECT_EQ(fault_of<int64_t>(DType::i64, {1e6, 0x1p53}, {1000000, large}), "");
  EXPECT_NE(fault_of<int64_t>(DType::i64, {1e6, 0x1p53}, {1000001, large}), "");
  EXPECT_NE(fault_of<int64_t>(DType::i64, {1e6, 0x1p53}, {1000000, large + 1}), "");
  EXPECT_EQ(fault_of<int32_t>(DType::i32, {-7}, {-7}), "");
  EXPECT_EQ(fault_of<int8_t>(DType::i8, {100, -3}, {100, -2}), "C[1] is -2 where the reference is -3");
  EXPECT_EQ(fault_of<int8_t>(DType::i8, {100, -3}, {100, -2}, bounds({{100, 0}, {-3, 1}})), "");
  EXPECT_NE(fault_of<int8_t>(DType::i8, {100, -3}, {100, -1}, bounds({{100, 0}, {-3, 1}})), "");
}

TEST(CompareOutput, ABooleanThatWasNeverWrittenShows) {
  EXPECT_EQ(fault_of<int8_t>(DType::boolean, {1, 0}, {1, 0}), "");
  EXPECT_EQ(fault_of<int8_t>(DType::boolean, {1, 0}, {0, 0}), "C[0] is 0 where the reference is 1");
  const Reference reference{Tensor("C", {3}, DType::boolean), {0}, {1}};
  const std::vector<int8_t> got = {1, 0, -1};
  const Status status =
      compare_points(reference, Layout::row_major(1), std::as_bytes(std::span(got)), 0, exact({1, 0, 0}));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "C[2] was not written");
}

TEST(CompareOutput, AReferenceAgreesWithItsPointsInInfinitiesToo) {
  const Reference points{Tensor("C", {4}, DType::f32), {1, 3}, {1e60, 2}};
  const auto agree = [&](const std::vector<double>& all, double error = 0) {
    return agrees(points, all, 1e-9, bounds({{}, {1e60, 0}, {}, {2, error}})).value();
  };
  EXPECT_TRUE(agree({0, 1e61, 0, 2}));
  EXPECT_FALSE(agree({0, -1e61, 0, 2}));
  EXPECT_FALSE(agree({0, 1e61, 0, 3}));
  EXPECT_FALSE(agree({0, NAN, 0, 2}));
  EXPECT_FALSE(agree({0, 1e61, 0, 2 + 1e-7}, 1e-2));
  EXPECT_TRUE(agree({0, 1e61, 0, 2 + 1e-7}, 1))
      << "of what cancels another order of a sum leaves something else";
}

}  // namespace
}  // namespace lathe::testing
