#include "expr/index_limit.h"

#include <gtest/gtest.h>

#include "expr/parse.h"

namespace lathe {
namespace {

int64_t limit_of(std::string_view text) {
  const Dag dag = parse_dag(text).value();
  for (const Tensor& input : dag.inputs) {
    if (input->dtype == DType::i32) return index_limit(dag, input);
  }
  return -1;
}

TEST(IndexLimit, LargestValuesThatStayInside) {
  EXPECT_EQ(limit_of("input I[9, 4] O[c:4] = I[s[c], c]"), 9);
  EXPECT_EQ(limit_of("input I[9, 4] O[c:4] = I[s[c] / 3, c]"), 27);
  EXPECT_EQ(limit_of("input I[9, 4] O[h:5, c:4] = I[h + 2 * i64(s[c]), c]"), 3);
  EXPECT_EQ(limit_of("input I[9, 4] O[h:5, c:4] = I[i64(s[c]) + 4 * i64(s[c]), c]"), 2);
  EXPECT_EQ(limit_of("input I[9, 4] O[c:4] = I[8 - s[c], c]"), 9);
  EXPECT_EQ(limit_of("input I[9, 4] O[c:4] = I[min(s[c], 3), c]"), 2147483647);
  EXPECT_EQ(limit_of("input I[9, 4] O[h:5, c:4] = I[h + i64(s[c]) / 3, c] + I[h + i64(s[c]) % 3, c]"), 15);
  EXPECT_EQ(limit_of("input I[9, 4] input s[4] i32 O[c:4] = select(i64(s[c]) < 9, I[s[c], c], 0.0)"),
            2147483647);
  EXPECT_EQ(limit_of("input s[4] i32 O[c:4] = f32(s[c])"), 2147483647);
}

std::string range_of(std::string_view text) {
  const Dag dag = parse_dag(text).value();
  for (const Tensor& input : dag.inputs) {
    const auto range = input->dtype == DType::i32 ? index_range(dag, input) : std::nullopt;
    if (range) return std::to_string(range->lo) + " to " + std::to_string(range->hi);
  }
  return "any";
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
  // Where 0 is no index, nothing is known.
  EXPECT_EQ(range_of("input I[9, 4] O[c:4] = I[i64(s[c]) - 3, c]"), "any");
  EXPECT_EQ(range_of("input s[4] i32 O[c:4] = f32(s[c])"), "any");
}

}  // namespace
}  // namespace lathe
