#include "intrinsics/intrinsic.h"

#include <gtest/gtest.h>

#include "expr/parse.h"
#include "expr/print.h"

namespace lathe::testing {
namespace {

// The factors that an intrinsic makes of a compute's terms, as text; "-" for none.
std::string factors(const char* intrinsic, const std::string& inputs, const std::string& term) {
  const Result<Dag> dag = parse_dag(inputs + "\nC[i:8, j:8] = sum(r:8) " + term);
  EXPECT_TRUE(dag.has_value()) << dag.error().to_string();
  if (!dag) return "";
  const auto found = match_factors(*find_intrinsic(intrinsic), dag->computes.back().body);
  return found ? to_string(found->a) + " | " + to_string(found->b) : "-";
}

constexpr const char* kMixed = "input A[8, 8] u8\ninput B[8, 8] i8";

TEST(Intrinsics, HaveABlockThatSaysWhatTheyCompute) {
  EXPECT_EQ(to_string(block_of(*find_intrinsic("dot4_u8_i8"), 16)),
            "input A[4] u8\ninput B[16, 4] i8\nC[l:16] = sum(t:4) i32(A[t]) * i32(B[l, t])\n");
  EXPECT_EQ(to_string(block_of(*find_intrinsic("dot2_bf16"), 8)),
            "input A[2] bf16\ninput B[8, 2] bf16\nC[l:8] = sum(t:2) f32(A[t]) * f32(B[l, t])\n");
  EXPECT_EQ(to_string(block_of(*find_intrinsic("dot2_i16"), 8)),
            "input A[2] i16\ninput B[8, 2] i16\nC[l:8] = sum(t:2) i32(A[t]) * i32(B[l, t])\n");
}

TEST(Intrinsics, EachMatchesItsOwnBlock) {
  for (const Intrinsic& intrinsic : intrinsics())
    EXPECT_TRUE(match_factors(intrinsic, block_of(intrinsic, 8).computes.back().body)) << intrinsic.name;
}

TEST(MatchFactors, TakesThemInEitherOrder) {
  EXPECT_EQ(factors("dot4_u8_i8", kMixed, "i32(A[i, r]) * i32(B[r, j])"), "A[i, r] | B[r, j]");
  EXPECT_EQ(factors("dot4_u8_i8", kMixed, "i32(B[r, j]) * i32(A[i, r])"), "A[i, r] | B[r, j]");
}

TEST(MatchFactors, WidensWhatIsNarrower) {
  EXPECT_EQ(factors("dot2_i16", kMixed, "i32(A[i, r]) * i32(B[r, j])"), "i16(A[i, r]) | i16(B[r, j])");
  EXPECT_EQ(factors("dot2_i16", "input A[8, 8] i8\ninput B[8, 8] i16", "i32(A[i, r]) * i32(B[r, j])"),
            "i16(A[i, r]) | B[r, j]");
}

TEST(MatchFactors, TakesZerosByCondition) {
  EXPECT_EQ(factors("dot4_u8_i8", kMixed, "i32(select(i < 7, A[i, r], u8(0))) * i32(B[r, j])"),
            "select(i < 7, A[i, r], u8(0)) | B[r, j]");
  EXPECT_EQ(factors("dot4_u8_i8", kMixed, "select(i < 7, i32(A[i, r]), i32(0)) * i32(B[r, j])"),
            "select(i < 7, A[i, r], u8(0)) | B[r, j]");
  EXPECT_EQ(factors("dot4_u8_i8", kMixed, "select(i < 7, i32(A[i, r]) * i32(B[r, j]), i32(0))"),
            "select(i < 7, A[i, r], u8(0)) | select(i < 7, B[r, j], i8(0))");
}

TEST(MatchFactors, LeavesTheOthers) {
  const auto signs = [](const char* a, const char* b) {
    return std::string("input A[8, 8] ") + a + "\ninput B[8, 8] " + b;
  };
  const std::string plain = "i32(A[i, r]) * i32(B[r, j])";
  EXPECT_EQ(factors("dot4_u8_i8", signs("i8", "i8"), plain), "-");
  EXPECT_EQ(factors("dot4_u8_i8", signs("u8", "u8"), plain), "-");
  EXPECT_EQ(factors("dot2_i16", signs("u16", "i8"), plain), "-");
  EXPECT_EQ(factors("dot2_bf16", signs("f16", "bf16"), "A[i, r] * B[r, j]"), "-");
  EXPECT_EQ(factors("dot4_u8_i8", kMixed, "(i32(A[i, r]) - 3) * i32(B[r, j])"), "-");
  EXPECT_EQ(factors("dot4_u8_i8", kMixed, "i32(A[i, r]) + i32(B[r, j])"), "-");
  EXPECT_EQ(factors("dot4_u8_i8", kMixed, "i64(A[i, r]) * i64(B[r, j])"), "-");
}

}  // namespace
}  // namespace lathe::testing
