#include "intrinsics/all.h"

#include <gtest/gtest.h>

namespace lathe::testing {
namespace {

TEST(AllIntrinsics, AreFoundByName) {
  for (const Intrinsic& intrinsic : intrinsics()) {
    EXPECT_EQ(find_intrinsic(intrinsic.name), &intrinsic);
    EXPECT_FALSE(intrinsic.forms.empty()) << intrinsic.name;
  }
  EXPECT_EQ(find_intrinsic("dot3"), nullptr);
}

// A product takes the first one that fits.
TEST(AllIntrinsics, ThoseOfMoreTermsComeFirstWhereSeveralComputeTheSame) {
  for (const Intrinsic& first : intrinsics()) {
    bool is_later = false;
    for (const Intrinsic& other : intrinsics()) {
      const bool serves_both = match_factors(other, block_of(first, 1).computes.back().body).has_value();
      EXPECT_FALSE(is_later && serves_both && first.group < other.group) << first.name << ", " << other.name;
      is_later = is_later || &other == &first;
    }
  }
}

}  // namespace
}  // namespace lathe::testing
