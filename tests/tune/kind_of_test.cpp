#include "tune/kind_of.h"

#include <gtest/gtest.h>

#include "expr/parse.h"

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

}  // namespace
}  // namespace lathe
