// Trees that know points by their choices.
#include "cost/draft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lathe {
namespace {

constexpr double kFailed = std::numeric_limits<double>::infinity();

// Two sketches; of the second the third parameter is another one.
std::vector<Domain> sketches() {
  return {Domain{{{"i", SplitParameter{64, 2, false, 64}}, {"unroll", OrderedParameter{{0, 16, 64}}}}},
          Domain{{{"i", SplitParameter{64, 2, false, 64}}, {"order", CategoricalParameter{3}}}}};
}

std::vector<Point> points() {
  std::vector<Point> all;
  const std::vector<Domain> domains = sketches();
  for (int sketch = 0; sketch < 2; ++sketch) {
    for (auto& integers : all_points(domains[static_cast<size_t>(sketch)])) all.push_back({sketch, integers});
  }
  return all;
}

double seconds(const Point& point) {
  const double octaves = std::log2(static_cast<double>(point.integers[0])) - 3;
  return 1 + octaves * octaves + (point.sketch == 1 && point.integers[1] != 2 ? 4 : 0);
}

std::vector<double> seconds_of(const std::vector<Point>& of) {
  std::vector<double> all;
  for (const Point& point : of) all.push_back(seconds(point));
  return all;
}

TEST(DraftModel, OrdersWhatItHasSeen) {
  DraftModel draft(sketches());
  EXPECT_FALSE(draft.fitted());
  const std::vector<Point> all = points();
  draft.fit(all, seconds_of(all));
  ASSERT_TRUE(draft.fitted());
  const std::vector<double> costs = draft.predict(all).mean;
  int pairs = 0;
  int in_order = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t k = 0; k < all.size(); ++k) {
      if (seconds(all[i]) >= seconds(all[k])) continue;
      ++pairs;
      in_order += costs[i] < costs[k] ? 1 : 0;
    }
  }
  EXPECT_GT(in_order, pairs * 9 / 10) << pairs;
}

TEST(DraftModel, WhatFailedIsWorst) {
  DraftModel draft(sketches());
  const std::vector<Point> all = points();
  std::vector<double> measured = seconds_of(all);
  for (size_t i = 0; i < all.size(); ++i) measured[i] = all[i].sketch == 0 ? kFailed : measured[i];
  draft.fit(all, measured);
  ASSERT_TRUE(draft.fitted());
  const std::vector<Point> best_of_each = {{0, {8, 0}}, {1, {8, 2}}};
  const std::vector<double> costs = draft.predict(best_of_each).mean;
  EXPECT_GT(costs[0], costs[1]);
}

TEST(DraftModel, NothingToLearnIsNoModel) {
  DraftModel draft(sketches());
  draft.fit({}, {});
  EXPECT_FALSE(draft.fitted());
  const std::vector<Point> two = {{0, {8, 0}}, {1, {8, 2}}};
  draft.fit(two, std::vector{1.0, 1.0});
  EXPECT_FALSE(draft.fitted());
  draft.fit(two, std::vector{1.0, 2.0});
  EXPECT_TRUE(draft.fitted());
  draft.fit({}, {});
  EXPECT_FALSE(draft.fitted()) << "a fit forgets what it knew";
}

}  // namespace
}  // namespace lathe
