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

TEST(Printable, HasNoControlCharactersAndNothingButUtf8) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("1.5 \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
            "1.5 \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(printable(std::string_view("a\0\x1b[31m\x7f", 8)), "a\\x00\\x1b[31m\\x7f");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xe2\x82z"), "\\xe2\\x82z");
  EXPECT_EQ(printable("\xa4"), "\\xa4");
}

}  // namespace
}  // namespace lathe::testing
