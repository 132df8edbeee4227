#include "space/ansor/node_facts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expr/parse.h"

namespace lathe {
namespace {

// Of the first compute.
Compute compute_of(const std::string& text) { return parse_dag(text).value().computes[0]; }

TEST(NodeFacts, WhatServesManyResultsNeedsTiles) {
  EXPECT_TRUE(needs_tiling(compute_of("C[i:4, j:4] = sum(r:4) A[i, r] * B[r, j]")));
  EXPECT_TRUE(needs_tiling(compute_of("C[i:4, x:4] = sum(k:3) A[i, x + k] * W[i, k]")));
  EXPECT_FALSE(needs_tiling(compute_of("C[i:4] = sum(r:4) A[i, r] * A[i, r]")));
  // One axis of one place is none.
  EXPECT_FALSE(needs_tiling(compute_of("C[n:1, i:4] = sum(r:4) A[i, r] * B[i, r]")));
}

TEST(NodeFacts, WithoutAReductionTwoAxesHaveToBeLeftOut) {
  EXPECT_TRUE(needs_tiling(compute_of("C[i:4, j:4, k:4] = A[i] * B[j, k]")));
  EXPECT_FALSE(needs_tiling(compute_of("C[i:4, j:4] = A[i] * B[j]")));
  // What takes another tensor point by point is bound by that.
  EXPECT_FALSE(needs_tiling(compute_of("C[n:2, f:4, y:4] = A[n, f, y] * s[f] + t[f]")));
}

TEST(NodeFacts, StrictlyInlinableIsCheapStraightAndInOrder) {
  const auto is_strict = [](const std::string& body, const std::string& reader = "C[i, j] + 1.0") {
    const Dag dag = parse_dag(fmt::format("C[i:4, j:4] = {}\nD[i:4, j:4] = {}", body, reader)).value();
    return is_strictly_inlinable(dag, 0, {});
  };
  EXPECT_TRUE(is_strict("A[i, j] * s[j] + 2.0"));
  EXPECT_TRUE(is_strict("A[i + 1, j]"));
  EXPECT_FALSE(is_strict("A[j, i]"));
  EXPECT_FALSE(is_strict("exp(A[i, j])"));
  EXPECT_FALSE(is_strict("select(i < 2, A[i, j], 0.0)"));
  EXPECT_FALSE(is_strictly_inlinable(parse_dag("C[i:4] = A[i]").value(), 0, {}));
  EXPECT_FALSE(is_strictly_inlinable(parse_dag("C[i:4] = sum(r:4) A[i, r]\nD[i:4] = C[i]").value(), 0, {}));
}

// Inlined into each other, sixty doublings would be an expression of 2^60 nodes.
TEST(NodeFacts, WhatReadersBecomeStaysSmall) {
  std::string sum = "A[i]";
  for (int i = 0; i < 40; ++i) sum += " + A[i]";
  const auto may = [&](const std::string& reader) {
    return may_be_inlined(parse_dag(fmt::format("C[i:4] = {}\nD[i:4] = {}", sum, reader)).value(), 0, {});
  };
  EXPECT_TRUE(may("C[i] * 2.0"));
  EXPECT_FALSE(may("C[i] * C[i]"));
}

TEST(NodeFacts, AnElementwiseConsumerIsTheOnlyOneAndFindsAllElseThere) {
  const auto consumer = [](const std::string& text) {
    return elementwise_consumer(parse_dag(text).value(), 0);
  };
  const std::string product = "C[i:4, j:4] = sum(r:4) A[i, r] * B[r, j]\n";
  EXPECT_EQ(consumer(product + "D[i:4, j:4] = C[i, j] + b[j]"), 1U);
  EXPECT_FALSE(consumer(product + "D[i:4, j:4] = C[j, i]"));
  EXPECT_FALSE(consumer(product + "D[i:4] = sum(j:4) C[i, j]"));
  EXPECT_FALSE(consumer(product + "D[i:4, j:4] = C[i, j]\nE[i:4, j:4] = C[i, j]"));
  EXPECT_FALSE(consumer(product + "E[i:4, j:4] = A[j, i]\nD[i:4, j:4] = C[i, j] + E[i, j]"));
}

TEST(NodeFacts, PartsForCoresByCounts) {
  const Compute norm = compute_of("C[i:4] = sum(r:8) A[i, r] * A[i, r]");
  EXPECT_TRUE(has_parts_for_cores(norm, 7));
  EXPECT_FALSE(has_parts_for_cores(norm, 8));
  const Compute product = compute_of("C[i:8, j:8] = sum(r:64) A[i, r] * B[r, j]");
  EXPECT_TRUE(has_parts_for_cores(product, 4));
  EXPECT_FALSE(has_parts_for_cores(product, 3));
  EXPECT_FALSE(has_parts_for_cores(compute_of("C[i:8, j:8] = sum(r:63) A[i, r] * B[r, j]"), 4));
  EXPECT_FALSE(has_parts_for_cores(compute_of("C[i:8] = A[i]"), 1));
}

}  // namespace
}  // namespace lathe
