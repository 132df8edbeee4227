#include "expr/index_limit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "expr/parse.h"

namespace lathe {
namespace {

std::string text_of(const std::optional<Interval>& values) {
  return values ? std::to_string(values->lo) + " to " + std::to_string(values->hi) : "any";
}

// Of the i32 inputs.
std::string values_of(std::string_view text) {
  const Dag dag = parse_dag(text).value();
  const std::vector<Interval> values = index_values(dag);
  std::string result;
  for (size_t i = 0; i < values.size(); ++i) {
    if (dag.inputs[i]->dtype == DType::i32) result += (result.empty() ? "" : ", ") + text_of(values[i]);
  }
  return result;
}

TEST(IndexValues, StayInside) {
  EXPECT_EQ(values_of("input I[9, 4] O[c:4] = I[s[c], c]"), "0 to 8");
  EXPECT_EQ(values_of("input I[9, 4] O[c:4] = I[s[c] / 3, c]"), "0 to 26");
  EXPECT_EQ(values_of("input I[9, 4] O[h:5, c:4] = I[h + 2 * i64(s[c]), c]"), "0 to 2");
  EXPECT_EQ(values_of("input I[9, 4] O[h:5, c:4] = I[i64(s[c]) + 4 * i64(s[c]), c]"), "0 to 1");
  EXPECT_EQ(values_of("input I[9, 4] O[c:4] = I[8 - s[c], c]"), "0 to 8");
  EXPECT_EQ(values_of("input I[9, 4] O[c:4] = I[min(s[c], 3), c]"), "0 to 2147483647");
  EXPECT_EQ(values_of("input I[9, 4] O[h:5, c:4] = I[h + i64(s[c]) / 3, c] + I[h + i64(s[c]) % 3, c]"),
            "0 to 14");
  EXPECT_EQ(values_of("input I[9, 4] input s[4] i32 O[c:4] = select(i64(s[c]) < 9, I[s[c], c], 0.0)"),
            "0 to 2147483647");
  EXPECT_EQ(values_of("input I[9, 4] O[c:4] = I[i64(s[c]) - 3, c]"), "3 to 11");
  EXPECT_EQ(values_of("input I[9, 4] O[c:4] = I[-s[c], c]"), "0 to 0");
  EXPECT_EQ(values_of("input I[9, 4] O[c:4] = I[-1 - i64(s[c]), c]"), "-9 to -1");
  EXPECT_EQ(values_of("input I[9, 4] O[c:4] = select(c < 2, I[s[c], c], 0.0)"), "0 to 8");
  EXPECT_EQ(values_of("input s[4] i32 O[c:4] = f32(s[c])"), "0 to 2147483647");
}

TEST(IndexValues, InputsThatMeetInOneIndexShareItsRoom) {
  const std::string inputs = "input A[9] input p[5] i32 input q[5] i32 ";
  EXPECT_EQ(values_of(inputs + "O[i:5] = A[p[i]] * A[q[i]]"), "0 to 8, 0 to 8");
  EXPECT_EQ(values_of(inputs + "O[i:5] = A[p[i] + q[i]]"), "0 to 4, 0 to 4");
  EXPECT_EQ(values_of(inputs + "O[i:5] = A[p[i] - q[i]]"), "0 to 0, 0 to 0");
  EXPECT_EQ(values_of(inputs + "input r[5] i32 O[i:5] = A[p[i] + 2 * q[i]] * A[r[i] + 3]"),
            "0 to 2, 0 to 2, 0 to 2");
}

std::string range_of(std::string_view text) {
  const Dag dag = parse_dag(text).value();
  const auto input = std::ranges::find(dag.inputs, "s", [](const Tensor& t) { return t->name; });
  return text_of(index_range(dag, *input));
}

TEST(IndexRange, ValuesThatStayInside) {
  EXPECT_EQ(range_of("input I[9, 4] O[c:4] = I[s[c], c]"), "0 to 8");
  EXPECT_EQ(range_of("input I[9, 4] O[c:4] = I[i64(s[c]) + 3, c]"), "-3 to 5");
  EXPECT_EQ(range_of("input I[9, 4] O[c:4] = I[8 - s[c], c]"), "0 to 8");
  EXPECT_EQ(range_of("input I[9, 4] O[c:4] = I[min(max(s[c], 0), 3), c]"), "any");
  EXPECT_EQ(
      range_of(
          "input I[9, 4] input s[4] i32 O[c:4] = select(0 <= i64(s[c]) && i64(s[c]) < 9, I[s[c], c], 0.0)"),
      "any");
  EXPECT_EQ(range_of("input I[9, 4] O[c:4] = I[min(s[c], 3), c]"), "0 to 2147483647");
  EXPECT_EQ(range_of("input I[9, 4] O[c:4] = I[i64(s[c]) - 3, c]"), "3 to 11");
  EXPECT_EQ(range_of("input I[9, 4] O[c:4] = I[-s[c], c]"), "-8 to 0");
  EXPECT_EQ(range_of("input I[9, 4] O[c:4] = I[abs(s[c]), c]"), "-8 to 8");
  EXPECT_EQ(range_of("input I[9, 4] O[c:4] = I[s[c] / 3, c]"), "0 to 26");
  EXPECT_EQ(range_of("input I[9, 4] O[c:4] = I[s[c] / 3 + 2, c]"), "-6 to 20");
  // What a select leaves out is not asked for.
  EXPECT_EQ(range_of("input I[9, 4] O[c:4] = select(m[c] > 0.5, I[s[c], c], 0.0)"), "any");
  EXPECT_EQ(range_of("input s[4] i32 O[c:4] = f32(s[c])"), "any");
}

// A sum that goes beyond its type is any of the type's values, some of which lie outside.
TEST(IndexRange, SumsOfNarrowIntegersWrapAround) {
  const auto range_of = [](std::string_view text) {
    const Dag dag = parse_dag(text).value();
    return text_of(index_range(dag, dag.inputs.front()));
  };
  EXPECT_EQ(range_of("input s[4] i8 input X[300] C[i:4] = X[s[i] + 100]"), "-100 to 27");
  EXPECT_EQ(range_of("input s[4] i8 input X[300] C[i:4] = X[i64(s[i]) + 100]"), "-100 to 127");
  EXPECT_EQ(range_of("input s[4] u8 input X[256] C[i:4] = X[s[i] + 10]"), "any");
  EXPECT_EQ(range_of("input s[4] u8 input X[200] C[i:4] = X[s[i] + 10]"), "0 to 189");
  EXPECT_EQ(range_of("input s[4] u16 input X[65536] C[i:4] = X[s[i] - 5]"), "any");
}

TEST(IndexRange, EndsWithTheTypeWhereNothingElseBounds) {
  EXPECT_EQ(range_of("input I[9, 4] input s[4] i64 O[c:4] = I[s[c], c]"), "0 to 8");
  EXPECT_EQ(range_of("input I[9, 4] input s[4] i64 O[c:4] = I[min(s[c], 3), c]"), "0 to 9223372036854775807");
  EXPECT_EQ(range_of("input I[9, 4] input s[4] i64 O[c:4] = I[max(s[c], 0), c]"),
            "-9223372036854775808 to 8");
  EXPECT_EQ(range_of("input s[4] i64 O[c:4] = f32(s[c])"), "any");
  EXPECT_EQ(range_of("input I[300, 4] input s[4] i8 O[c:4] = I[i64(s[c]), c]"), "0 to 127");
  EXPECT_EQ(range_of("input I[300, 4] input s[4] i8 O[c:4] = I[i64(s[c]) + 128, c]"), "any");
}

}  // namespace
}  // namespace lathe
