#include "session/commands/live_ground.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/all.h"
#include "search/all.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

class LiveGroundTest : public SessionTest {
 protected:
  Result<LiveGround> ground(const std::string& op) const {
    return LiveGround::create({.workload = "w.json", .op = op}, path(""), path("live.db"), worker_, {});
  }
  static LiveSearchOptions search(uint64_t seed) {
    return {
        .strategy = "random",
        .make_strategy = [](SearchSpace space,
                            uint64_t of_seed) { return make_strategy("random", std::move(space), of_seed); },
        .make_model = [] { return make_cost_model("none"); },
        .trials = 5,
        .batch = 2,
        .seed = seed};
  }
};

TEST_F(LiveGroundTest, TheSameSeedGivesTheSameTimes) {
  Result<LiveGround> live = ground("mm");
  ASSERT_TRUE(live) << refusal_of(live);
  EXPECT_EQ(live->name(), "mm lathe");
  const KeptSearch first = live->search(search(1), {}).value().value();
  ASSERT_EQ(first.seconds.size(), 5U);
  ASSERT_EQ(first.charged.size(), 5U);
  EXPECT_EQ(live->search(search(1), {}).value()->seconds, first.seconds);
  EXPECT_NE(live->search(search(2), {}).value()->seconds, first.seconds);
}

TEST_F(LiveGroundTest, ASearchThatIsStoppedIsNone) {
  Result<LiveGround> live = ground("mm");
  ASSERT_TRUE(live) << refusal_of(live);
  EXPECT_FALSE(live->search(search(1), [] { return true; }).value());
}

TEST_F(LiveGroundTest, AnOperatorThatThereIsNotIsNamed) {
  EXPECT_THAT(refusal_of(ground("nn")), ::testing::HasSubstr("there is no operator 'nn'"));
}

}  // namespace
}  // namespace lathe
