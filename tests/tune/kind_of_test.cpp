#include "tune/kind_of.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "expr/parse.h"
#include "expr/print.h"

namespace lathe {
namespace {

std::string kind(const char* text) { return kind_of(parse_dag(text).value()); }

TEST(KindOf, SizesAreLeftOut) {
  const std::string small = kind("C[i:10, j:11] = sum(k:9) A[i,k] * B[k,j]");
  EXPECT_EQ(small, kind("C[i:1024, j:7] = sum(k:300) A[i,k] * B[k,j]"));
  EXPECT_NE(small, kind("C[i:10, j:11] = max(k:9) A[i,k] * B[k,j]"));
  EXPECT_NE(small, kind("C[i:10, j:11] = sum(k:9) A[i,k] * B[j,k]"));
}

TEST(KindOf, StridesStayWhole) {
  const std::string two = kind("O[x:10] = sum(k:3) I[2*x + k] * W[k]");
  EXPECT_EQ(two, kind("O[x:55] = sum(k:7) I[2*x + k] * W[k]"));
  EXPECT_NE(two, kind("O[x:10] = sum(k:3) I[x + k] * W[k]"));
  EXPECT_NE(kind("O[x:10] = sum(k:3) I[12*x + k] * W[k]"), kind("O[x:10] = sum(k:3) I[13*x + k] * W[k]"));
}

TEST(KindOf, SizesOfTheKindAlone) {
  const std::string two = kind("O[x:10] = sum(k:3) I[2*x + k] * W[k]");
  const auto sizes = [&two](const char* text) {
    return sizes_as_of_kind(to_string(parse_dag(text).value()), two);
  };
  const std::optional<std::vector<double>> theirs = sizes("O[x:55] = sum(k:7) I[2*x + k] * W[k]");
  ASSERT_TRUE(theirs);
  EXPECT_NE(std::ranges::find(*theirs, 55), theirs->end());
  EXPECT_NE(std::ranges::find(*theirs, 7), theirs->end());
  EXPECT_EQ(theirs->size(), sizes("O[x:10] = sum(k:3) I[2*x + k] * W[k]")->size());
  EXPECT_FALSE(sizes("O[x:10] = sum(k:3) I[3*x + k] * W[k]"));
  EXPECT_FALSE(sizes("O[x:10] = max(k:3) I[2*x + k] * W[k]"));
  // What the kind begins with, and what begins with the kind.
  EXPECT_FALSE(sizes_as_of_kind("O", two));
  EXPECT_FALSE(
      sizes_as_of_kind(to_string(parse_dag("O[x:10] = sum(k:3) I[2*x + k] * W[k]").value()) + " + x", two));
}

}  // namespace
}  // namespace lathe
