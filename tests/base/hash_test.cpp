#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>

namespace lathe {
namespace {

// From an independent implementation: records name tasks by these values, so they must never change.
TEST(Hash, ValuesAreFixedForEver) {
  EXPECT_EQ(hash_to_string(Hasher().finish()), "efd01f60ba992926");
  EXPECT_EQ(hash_to_string(hash_text("matmul")), "74e0071cba7f5a41");
  EXPECT_EQ(hash_to_string(Hasher().add(-1).finish()), "6a92c0228678c02e");
}

TEST(Hash, TextFormHasSixteenDigits) {
  EXPECT_EQ(hash_to_string(hash_text("13")), "091c1348ddf4c834");
  EXPECT_EQ(hash_to_string(0), "0000000000000000");
}

TEST(Hash, IntegersOfEqualValueHashAlikeWhateverTheirType) {
  EXPECT_EQ(Hasher().add(-5).finish(), Hasher().add(int64_t{-5}).finish());
  EXPECT_EQ(Hasher().add(7).finish(), Hasher().add(uint64_t{7}).finish());
}

TEST(Hash, OrderAndGroupingMatter) {
  EXPECT_NE(Hasher().add(1).add(2).finish(), Hasher().add(2).add(1).finish());
  EXPECT_NE(Hasher().add("ab").add("c").finish(), Hasher().add("a").add("bc").finish());
  EXPECT_NE(Hasher().add("").finish(), Hasher().finish());
}

TEST(Hash, ATextMayComeInParts) {
  EXPECT_EQ(Hasher().add(uint64_t{5}).add_part("ab").add_part("").add_part("cde").finish(),
            hash_text("abcde"));
}

TEST(Hash, SmallInputsDoNotCollide) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 300; ++i) {
    for (int j = 0; j < 300; ++j) seen.insert(Hasher().add(i).add(j).finish());
  }
  EXPECT_EQ(seen.size(), 90000u);
}

// The final mixing: without it the last bytes added would hardly touch the high bits.
TEST(Hash, OneBitOfInputChangesAboutHalfOfTheOutput) {
  int flipped = 0;
  for (int bit = 0; bit < 64; ++bit) {
    flipped +=
        __builtin_popcountll(Hasher().add(uint64_t{0}).finish() ^ Hasher().add(uint64_t{1} << bit).finish());
  }
  EXPECT_NEAR(flipped / 64.0, 32.0, 3.0);
}

}  // namespace
}  // namespace lathe
