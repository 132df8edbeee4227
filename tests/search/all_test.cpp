#include "search/all.h"

#include <gtest/gtest.h>

#include "search/landscape.h"

namespace lathe {
namespace {

TEST(SearchTable, MakesEveryNamedStrategyAndScheduler) {
  for (const std::string& name : strategy_names()) {
    auto strategy = make_strategy(name, Landscape::space(), {});
    ASSERT_TRUE(strategy.has_value()) << name;
    EXPECT_EQ((*strategy)->propose(4, {}).size(), 4u) << name;
  }
  for (const std::string& name : task_scheduler_names()) {
    auto scheduler = make_task_scheduler(name, {{}, {}}, {});
    ASSERT_TRUE(scheduler.has_value()) << name;
    EXPECT_EQ((*scheduler)->next(), 0) << name;
  }
}

TEST(SearchTable, AnUnknownNameIsAnErrorThatListsTheLegalOnes) {
  EXPECT_EQ(make_strategy("annealing", {}, {}).error().message,
            "there is no strategy 'annealing'; legal names are evolutionary, random");
  EXPECT_EQ(make_task_scheduler("fair", {}, {}).error().message,
            "there is no task scheduler 'fair'; legal names are gradient, round-robin");
}

}  // namespace
}  // namespace lathe
