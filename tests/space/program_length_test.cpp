#include "space/program_length.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

TEST(ProgramLength, ABodyOfMoreStatementsThanTheMostIsNamed) {
  EXPECT_TRUE(check_length("C", kLongestBody));
  const Status longer = check_length("C", kLongestBody + 1);
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().to_string(),
            "too long: the body of 'C' becomes 4097 statements by unrolling, of which 4096 are the most");
}

}  // namespace
}  // namespace lathe
