#include "records/within.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

TEST(Within, AnErrorsPlaceIsNamedFromOutsideIn) {
  const Result<int> inner = fail(ErrorKind::parse, "it is none", "line 3");
  const Result<int> outer = within("a.db", within("record 7", inner));
  ASSERT_FALSE(outer.has_value());
  EXPECT_EQ(outer.error().to_string(), "a.db: record 7: line 3: it is none");
  EXPECT_EQ(outer.error().kind, ErrorKind::parse);
  const Result<int> placeless = fail(ErrorKind::io, "it failed");
  EXPECT_EQ(within("a.db", placeless).error().to_string(), "a.db: it failed");
}

TEST(Within, AValueStaysAsItIs) {
  EXPECT_EQ(within("a.db", Result<int>(5)).value(), 5);
  EXPECT_TRUE(within("a.db", Status()).has_value());
}

}  // namespace
}  // namespace lathe
