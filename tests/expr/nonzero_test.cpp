// The conditions that put zeros into a product's factors, found through what the factors read.
#include "expr/nonzero.h"

#include <gtest/gtest.h>

#include "expr/parse.h"
#include "expr/print.h"

namespace lathe {
namespace {

std::vector<std::string> limits_of_last(const std::string& text) {
  const Result<Dag> dag = parse_dag(text);
  EXPECT_TRUE(dag) << dag.error().to_string();
  std::vector<std::string> found;
  for (const Limit& limit : where_nonzero(*dag, dag->computes.back().body))
    found.push_back(to_string(limit.value) + " < " + std::to_string(limit.bound));
  return found;
}

using Found = std::vector<std::string>;

TEST(NonZero, PaddingIsSeenThroughAnotherCompute) {
  EXPECT_EQ(limits_of_last("input A[8] f32 input W[3] f32\n"
                           "P[y:10] = select(y >= 1 && y < 9, A[y - 1], 0.0)\n"
                           "C[x:8] = sum(k:3) P[x + k] * W[k]"),
            (Found{"-x - k + 1 < 1", "x + k - 9 < 0"}));
}

TEST(NonZero, EveryFactorCounts) {
  EXPECT_EQ(limits_of_last("input A[8] f32 input W[3] f32\n"
                           "C[x:6] = sum(k:3) A[x + k] * select(k < 2, W[k], 0.0)"),
            (Found{"k - 2 < 0"}));
}

TEST(NonZero, ACastOfZeroIsZero) {
  EXPECT_EQ(limits_of_last("input A[8] u8\ninput W[3] i8\n"
                           "P[y:8] = select(y < 7, A[y], u8(0))\n"
                           "C[x:6] = sum(k:3) i32(P[x + k]) * i32(W[k])"),
            (Found{"x + k - 7 < 0"}));
}

TEST(NonZero, AnotherValueThanZeroIsNoCondition) {
  EXPECT_EQ(limits_of_last("input A[8] f32 input W[3] f32\n"
                           "C[x:6] = sum(k:3) A[x + k] * select(k < 2, W[k], 1.0)"),
            Found{});
}

TEST(NonZero, ASumIsNotSeenThrough) {
  EXPECT_EQ(limits_of_last("input A[8, 2] f32 input W[3] f32\n"
                           "P[y:8] = sum(r:2) A[y, r]\n"
                           "C[x:6] = sum(k:3) P[x + k] * W[k]"),
            Found{});
}

}  // namespace
}  // namespace lathe
