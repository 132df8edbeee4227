#include "expr/structural_hash.h"

#include <gtest/gtest.h>

#include <set>

#include "expr/parse.h"

namespace lathe {
namespace {

uint64_t hash(std::string_view text) { return hash_of(parse_dag(text).value()); }

TEST(StructuralHash, NamesAndOrderOfTermsDoNotCount) {
  EXPECT_EQ(hash("C[i:4] = sum(k:3) A[2*i + k]"), hash("Out[x:4] = sum(r:3) In[r + x*2]"));
  // An integer counts by its value's form, however it is written.
  EXPECT_EQ(hash("input I[9] O[c:4] = I[c + i64(s[c])]"), hash("input I[9] O[c:4] = I[i64(s[c]) + c]"));
  EXPECT_EQ(hash("O[c:4] = f32(c * 2 + 2)"), hash("O[c:4] = f32((c + 1) * 2)"));
}

// It is kept in records: it must never change without a new version of these.
TEST(StructuralHash, IsTheSameEverywhere) {
  EXPECT_EQ(hash("C[i:1000, j:1001] = sum(r:999) A[i, r] * B[r, j]"), 2839971508735272896u);
}

TEST(StructuralHash, StructureCounts) {
  const std::vector<std::string> different = {
      "C[i:4, j:4] = sum(r:4) A[i, r] * B[r, j]",
      "C[i:4, j:4] = sum(r:4) A[i, r] * B[j, r]",
      "C[i:4, j:4] = max(r:4) A[i, r] * B[r, j]",
      "C[i:4, j:4] = sum(r:4) A[i, r] + B[r, j]",
      "C[i:4, j:4] = sum(r:4) A[i, r] * A[r, j]",
      "C[i:4, j:5] = sum(r:4) A[i, r] * B[r, j]",
      "input A[5, 4] C[i:4, j:4] = sum(r:4) A[i, r] * B[r, j]",
      "input B[4, 4] C[i:4, j:4] = sum(r:4) A[i, r] * B[r, j]",
      "input A[4, 4] f64 input B[4, 4] f64 C[i:4, j:4] = sum(r:4) A[i, r] * B[r, j]",
      "C[i:4, j:4, r:4] = A[i, r] * B[r, j]",
      "C[i:4] = A[i / 2]",
      "C[i:4] = A[i % 2]",
      "C[i:4] = A[i % 3]",
      "C[i:4] = A[i] + 1.0",
      "C[i:4] = A[i] + 2.0",
      "C[i:4] = A[i] + 1.0 D[i:4] = C[i]",
      "C[i:4] = A[i] + 1.0 D[i:4] = C[i] output C output D",
      "table T[2] = {1, 2} C[i:2] = T[i]",
      "table T[2] = {1, 3} C[i:2] = T[i]",
  };
  std::set<uint64_t> hashes;
  for (const std::string& text : different) EXPECT_TRUE(hashes.insert(hash(text)).second) << text;
}

}  // namespace
}  // namespace lathe
