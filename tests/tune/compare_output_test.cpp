// When an element counts as right, by its type.
#include "tune/compare_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lathe::testing {
namespace {

constexpr double kTolerance = 1e-5;
constexpr double kLargest = std::numeric_limits<float>::max();

// The sentence about what is wrong, the same from both comparisons; empty: all is right.
template <class T>
std::string fault_of(DType dtype, const std::vector<double>& expected, const std::vector<T>& got,
                     std::vector<bool> undecided = {}) {
  const auto size = static_cast<int64_t>(expected.size());
  Reference reference{Tensor("C", {size}, dtype), {}, expected, std::move(undecided)};
  for (int64_t i = 0; i < size; ++i) reference.positions.push_back(i);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(got));
  const Layout layout = Layout::row_major(1);
  double largest = 0;
  const Status points = compare_points(reference, layout, bytes, kTolerance);
  const Status all = compare_all(reference, layout, bytes, kTolerance, largest);
  EXPECT_EQ(points.has_value(), all.has_value());
  EXPECT_TRUE(!all || largest <= kTolerance);
  return all ? "" : all.error().message;
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
    return compare_points(sum, Layout::row_major(1), std::as_bytes(std::span(zero)), kTolerance).has_value();
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
  EXPECT_EQ(largest_magnitude(DType::f32, expected), 1e8);
  EXPECT_EQ(magnitude_of(DType::f32, expected), 64);
  std::vector<float> values(expected.begin(), expected.end());
  EXPECT_EQ(fault_of<float>(DType::f32, expected, values), "");
  values[3] = 1e8F + 96;
  EXPECT_EQ(fault_of<float>(DType::f32, expected, values), "");
  values[5] = 1.01F;
  EXPECT_NE(fault_of<float>(DType::f32, expected, values), "");
}

// Most of what a softmax leaves is tiny.
TEST(CompareOutput, ManyTinyNumbersAreMeasuredByAFewLargeOnes) {
  std::vector<double> expected(1000, 1e-9);
  for (size_t i = 0; i < 20; ++i) expected[i * 50] = 0.9 + 0.001 * static_cast<double>(i);
  EXPECT_DOUBLE_EQ(magnitude_of(DType::f32, expected), 0.919);
  EXPECT_DOUBLE_EQ(magnitude_of(DType::f32, expected, kMost), 64e-9);
}

// What it may be off beyond the tolerance; elements with slack make the others no less strict.
TEST(CompareOutput, AnElementWithSlackMayBeFurtherOffAndIsANumber) {
  const auto fault = [](float got, float free = 1e30F) {
    Reference reference{Tensor("C", {3}, DType::f32), {0, 1, 2}, {1, 1000, 1}};
    reference.slack = {0, 5, INFINITY};
    const std::vector<float> values = {1, got, free};
    double largest = 0;
    const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
    const Status all = compare_all(reference, Layout::row_major(1), bytes, kTolerance, largest);
    EXPECT_EQ(all.has_value(),
              compare_points(reference, Layout::row_major(1), bytes, kTolerance).has_value());
    return all ? "" : all.error().message;
  };
  EXPECT_EQ(fault(1004), "");
  EXPECT_EQ(fault(996), "");
  EXPECT_EQ(fault(1005.5), "C[1] is 1005.5 where the reference is 1000");
  EXPECT_EQ(fault(INFINITY), "C[1] is inf where the reference is 1000");
  EXPECT_NE(fault(NAN), "");
  EXPECT_NE(fault(1000, NAN), "");
}

TEST(CompareOutput, IntegersAreTheSameOrWrong) {
  const int64_t large = int64_t{1} << 53;
  EXPECT_EQ(fault_of<int64_t>(DType::i64, {1e6, 0x1p53}, {1000000, large}), "");
  EXPECT_NE(fault_of<int64_t>(DType::i64, {1e6, 0x1p53}, {1000001, large}), "");
  EXPECT_NE(fault_of<int64_t>(DType::i64, {1e6, 0x1p53}, {1000000, large + 1}), "");
  EXPECT_EQ(fault_of<int32_t>(DType::i32, {-7}, {-7}), "");
  EXPECT_EQ(fault_of<int8_t>(DType::i8, {100, -3}, {100, -2}), "C[1] is -2 where the reference is -3");
  EXPECT_EQ(fault_of<int8_t>(DType::i8, {100, -3}, {100, -2}, {false, true}), "");
}

TEST(CompareOutput, ABooleanThatWasNeverWrittenShows) {
  EXPECT_EQ(fault_of<int8_t>(DType::boolean, {1, 0}, {1, 0}), "");
  EXPECT_EQ(fault_of<int8_t>(DType::boolean, {1, 0}, {0, 0}), "C[0] is 0 where the reference is 1");
  const Reference reference{Tensor("C", {3}, DType::boolean), {0}, {1}, {}};
  const std::vector<int8_t> got = {1, 0, -1};
  const Status status = compare_points(reference, Layout::row_major(1), std::as_bytes(std::span(got)), 0);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, ::testing::StartsWith("C[2] is 255"));
}

TEST(CompareOutput, AReferenceAgreesWithItsPointsInInfinitiesToo) {
  const Reference points{Tensor("C", {4}, DType::f32), {1, 3}, {1e60, 2}, {}};
  EXPECT_TRUE(agrees(points, std::vector<double>{0, 1e61, 0, 2}, 1e-9));
  EXPECT_FALSE(agrees(points, std::vector<double>{0, -1e61, 0, 2}, 1e-9));
  EXPECT_FALSE(agrees(points, std::vector<double>{0, 1e61, 0, 3}, 1e-9));
  EXPECT_FALSE(agrees(points, std::vector<double>{0, NAN, 0, 2}, 1e-9));
}

}  // namespace
}  // namespace lathe::testing
