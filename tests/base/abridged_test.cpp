#include "base/abridged.h"

#include <gtest/gtest.h>

namespace lathe::testing {
namespace {

TEST(Abridged, KeepsShortTextAndTheBeginningOfLong) {
  EXPECT_EQ(abridged(""), "");
  EXPECT_EQ(abridged("12345", 5), "12345");
  EXPECT_EQ(abridged("123456", 5), "12345 ..");
  EXPECT_EQ(abridged(std::string(1000, 'x')).size(), 103U);
}

TEST(Abridged, CutsNoCharacter) {
  EXPECT_EQ(abridged("ab\xc3\xa4", 3), "ab ..");
  EXPECT_EQ(abridged("\xe2\x82\xac\xe2\x82\xac", 5), "\xe2\x82\xac ..");
}

}  // namespace
}  // namespace lathe::testing
