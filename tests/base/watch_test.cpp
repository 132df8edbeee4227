// A watch over many short steps looks at the clock once for so many, and stays over.
#include "base/watch.h"

#include <gtest/gtest.h>

namespace lathe::testing {
namespace {

TEST(StepWatch, AsksOnceForSoManyStepsAndStaysOver) {
  int asked = 0;
  const Watch watch{.stop = [&] { return ++asked == 3; }};
  StepWatch steps(watch, 10);
  for (int step = 1; step < 30; ++step) EXPECT_FALSE(steps.is_over_after_step()) << step;
  EXPECT_EQ(asked, 2);
  EXPECT_FALSE(steps.is_over());
  EXPECT_TRUE(steps.is_over_after_step());
  for (int step = 0; step < 100; ++step) EXPECT_TRUE(steps.is_over_after_step());
  EXPECT_TRUE(steps.is_over());
  EXPECT_EQ(asked, 3) << "nobody is asked again";
}

TEST(StepWatch, OfNothingIsNeverOver) {
  StepWatch steps;
  for (int step = 0; step < 1000; ++step) EXPECT_FALSE(steps.is_over_after_step());
}

}  // namespace
}  // namespace lathe::testing
