#include "search/schedulers/round_robin.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

TEST(RoundRobin, TakesEveryLiveTaskInTurn) {
  auto scheduler = make_round_robin(std::vector<ScheduledTask>(3), 0);
  std::vector<int> order;
  for (int round = 0; round < 8; ++round) {
    const int task = *scheduler->next();
    order.push_back(task);
    scheduler->observe(task, 1.0, round == 4);  // task 1 is used up in its second round
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 2}));
}

TEST(RoundRobin, EndsWhenAllAreUsedUp) {
  auto scheduler = make_round_robin(std::vector<ScheduledTask>(2), 0);
  scheduler->observe(0, 1.0, true);
  EXPECT_EQ(scheduler->next(), 1);
  scheduler->observe(1, 1.0, true);
  EXPECT_EQ(scheduler->next(), std::nullopt);
  EXPECT_EQ(make_round_robin({}, 0)->next(), std::nullopt);
}

}  // namespace
}  // namespace lathe
