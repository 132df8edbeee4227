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
  EXPECT_EQ(limit_of("input I[9, 4] O[c:4] = I[8 - s[c], c]"), 9);
  EXPECT_EQ(limit_of("input I[9, 4] O[c:4] = I[min(s[c], 3), c]"), 2147483647);
  EXPECT_EQ(limit_of("input I[9, 4] O[h:5, c:4] = I[h + i64(s[c]) / 3, c] + I[h + i64(s[c]) % 3, c]"), 15);
  EXPECT_EQ(limit_of("input I[9, 4] input s[4] i32 O[c:4] = select(i64(s[c]) < 9, I[s[c], c], 0.0)"),
            2147483647);
  EXPECT_EQ(limit_of("input s[4] i32 O[c:4] = f32(s[c])"), 2147483647);
}

}  // namespace
}  // namespace lathe
