#include "artifact/choose_within.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lathe {
namespace {

using ::testing::ElementsAre;

TEST(ChooseWithin, WhatFitsStays) {
  EXPECT_THAT(choose_within({{{100, 1.0}, {10, 2.0}}, {{50, 1.0}}}, 150), ElementsAre(0, 0));
}

TEST(ChooseWithin, WhoLosesLeastForItsBytesGivesUp) {
  // 90 bytes for 0.9 s, or 90 for 0.1 s.
  EXPECT_THAT(choose_within({{{100, 1.0}, {10, 1.9}}, {{100, 1.0}, {10, 1.1}}}, 150), ElementsAre(0, 1));
}

TEST(ChooseWithin, ASmallerTransformIsAStepBetween) {
  EXPECT_THAT(choose_within({{{100, 1.0}, {50, 1.1}, {10, 3.0}}}, 60), ElementsAre(1));
  EXPECT_THAT(choose_within({{{100, 1.0}, {50, 1.1}, {10, 3.0}}}, 20), ElementsAre(2));
}

TEST(ChooseWithin, WhatTurnsOutNotToBeNeededIsTakenBack) {
  // The first step saves too little, and the second enough for both.
  EXPECT_THAT(choose_within({{{30, 1.0}, {20, 1.01}}, {{100, 1.0}, {10, 2.0}}}, 60), ElementsAre(0, 1));
}

// 160 bytes for 1 s are a better bargain than 100 for 0.8, which are enough.
TEST(ChooseWithin, ASmallerStepThatIsEnoughTakesThePlaceOfALargerOne) {
  EXPECT_THAT(choose_within({{{200, 0.0}, {100, 0.8}, {40, 1.0}}}, 120), ElementsAre(1));
}

TEST(ChooseWithin, WhereNothingFitsTheLeastIsTaken) {
  EXPECT_THAT(choose_within({{{100, 1.0}, {90, 2.0}}}, 10), ElementsAre(1));
}

}  // namespace
}  // namespace lathe
