#include "expr/reads.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

struct ReadsTest : ::testing::Test {
  ReadsTest() {
    ranges.set_extent(x, 10);
    ranges.set_extent(k, 3);
  }
  // "lo..hi" of the first dimension of the only read.
  std::string reach(const Expr& body) const {
    const std::vector<Read> reads = reads_of(body);
    EXPECT_EQ(reads.size(), 1u);
    const Reach found = reach_of(reads.at(0).load->index.at(0), ranges, reads.at(0).facts);
    const auto end = [](std::optional<int64_t> value) { return value ? std::to_string(*value) : "?"; };
    return end(found.lo) + ".." + end(found.hi);
  }
  Var x{"x"};
  Var k{"k"};
  Tensor a{"A", {100}};
  Tensor s{"s", {10}, DType::i32};
  Ranges ranges;
};

TEST_F(ReadsTest, RangesAlone) {
  EXPECT_EQ(reach(a(Expr(x) * 2 - Expr(k))), "-2..18");
  EXPECT_EQ(reach(a((Expr(x) - 1) / 2)), "-1..4");
  EXPECT_EQ(reach(a(Expr(x) % 4)), "0..3");
  EXPECT_EQ(reach(a(Expr(x) % 11)), "0..9");
  EXPECT_EQ(reach(a((Expr(k) + 2) % 5)), "2..4");
  EXPECT_EQ(reach(a((Expr(k) + 3) % 5)), "0..4");
}

TEST_F(ReadsTest, QuotientsAndTheirRemaindersAreOneNumber) {
  EXPECT_EQ(reach(a(Expr(x) / 3 * 3 + Expr(x) % 3)), "0..9");
  EXPECT_EQ(reach(a(Expr(x) / 3 * 6 + Expr(x) % 3 * 2 + Expr(k))), "0..20");
  EXPECT_EQ(reach(a(Expr(x) / 3 * 4 + Expr(x) % 3)), "0..14");
  const Expr whole = Expr(x) / 4 * 8 + Expr(x) % 4;
  EXPECT_EQ(reach(select(whole < 5, a(whole), 0.0)), "0..4");
}

TEST_F(ReadsTest, ConditionsNarrow) {
  const Expr inside = Expr(x) >= 1 && Expr(x) < 9;
  EXPECT_EQ(reach(select(inside, a(Expr(x) - 1), 0.0)), "0..7");
  EXPECT_EQ(reach(select(unary(UnaryOp::logical_not, inside), 0.0, a(Expr(x) - 1))), "0..7");
  EXPECT_EQ(reach(select(Expr(x) < 1 || Expr(x) > 8, 0.0, a(Expr(x) - 1))), "0..7");
  EXPECT_EQ(reach(select(Expr(x) + Expr(k) >= 4, a(Expr(x) + Expr(k) - 4), 0.0)), "0..7");
  EXPECT_EQ(reach(select(Expr(x) - Expr(k) >= 0, a((Expr(x) - Expr(k)) / 2), 0.0)), "0..4");
  EXPECT_EQ(reach(select(Expr(x) == 5, a(x), 0.0)), "5..5");
  EXPECT_EQ(reach(select(Expr(x) != 5, 0.0, a(x))), "5..5");
}

TEST_F(ReadsTest, ConditionsThatSayNothing) {
  // Of a disjunction that holds, neither side need hold; on the other side of a select nothing is known.
  EXPECT_EQ(reach(select(Expr(x) >= 1 || Expr(x) < 9, a(Expr(x) - 1), 0.0)), "-1..8");
  EXPECT_EQ(reach(select(Expr(x) >= 1 && Expr(k) < 2, 0.0, a(Expr(x) - 1))), "-1..8");
}

TEST_F(ReadsTest, IndirectIndices) {
  const Expr body = a(s(x));
  const std::vector<Read> reads = reads_of(body);
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_EQ(reads[0].load->tensor, a);
  EXPECT_EQ(reads[1].load->tensor, s);
  EXPECT_EQ(reach_of(reads[0].load->index[0], ranges, {}).hi, std::nullopt);
  const Expr index(to_affine(s(x)));
  const Expr choice = select(index < 7, a(index), 0.0);
  const std::vector<Read> guarded = reads_of(choice);
  const Read& read = guarded.at(1);
  ASSERT_EQ(read.load->tensor, a);
  EXPECT_EQ(reach_of(read.load->index[0], ranges, read.facts).hi, 6);
  EXPECT_EQ(reach_of(read.load->index[0], ranges, read.facts).lo, std::nullopt);
}

}  // namespace
}  // namespace lathe
