#include "experiment/table_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cost/all.h"
#include "domain/encoding.h"
#include "experiment/curve.h"
#include "search/all.h"

namespace lathe {
namespace {

// Tiles of two loops: the time grows with the distance from a best tiling, as far as it is legal.
MeasuredTable bowl() {
  MeasuredTable table;
  table.sketches = {
      {"tile", {{{"i", SplitParameter{64, 3, false, 64}}, {"j", SplitParameter{64, 3, false, 64}}}}}};
  for (const auto& at : all_points(table.sketches[0].domain)) {
    double penalty = 0;
    const double best[] = {4, 8, 2, 16};
    for (size_t k = 0; k < 4; ++k) {
      const double octaves = std::log2(static_cast<double>(at[k]) / best[k]);
      penalty += octaves * octaves;
    }
    TableEntry entry{TableEntry::Outcome::measured, 1e-3 * (1 + penalty)};
    if (at[0] == 64) entry = {TableEntry::Outcome::failed};
    if (at[2] == 64) entry = {};
    table.entries.push_back(entry);
  }
  return table;
}

class TableSearch : public ::testing::Test {
 protected:
  std::vector<double> search(const char* strategy, uint64_t seed, int64_t trials,
                             const char* model_name = "gbt") {
    const auto model = *make_cost_model(model_name);
    const TableFeatures features = [&](const Point& point) -> const std::optional<FeatureRows>& {
      rows_ = FeatureRows{.numbers = encoded(table_.sketches[0].domain, point.integers)};
      return rows_;
    };
    const auto make = [&](SearchSpace space) { return make_strategy(strategy, std::move(space), seed); };
    return search_table(index_, table_, make, *model, features, {.trials = trials, .batch = 16}).value();
  }

  MeasuredTable table_ = bowl();
  TableIndex index_{table_};
  std::optional<FeatureRows> rows_;
};

TEST_F(TableSearch, EveryStrategyIsScoredAgainstRandomSearch) {
  const std::vector<double> all = seconds_of(table_);
  const double optimum = *std::ranges::min_element(all);
  const std::vector<double> random = expected_random(all, 128);
  for (const std::string& name : strategy_names()) {
    double score = 0;
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const std::vector<double> seconds = search(name.c_str(), seed, 128);
      ASSERT_EQ(seconds.size(), 128U) << name;
      score += search_score(best_so_far(seconds), random, optimum) / 5;
    }
    EXPECT_GT(score, name.starts_with("random") || name.starts_with("genetic") ? -0.35 : 0.0) << name;
    EXPECT_LE(score, 1) << name;
  }
}

TEST_F(TableSearch, TheSameSeedGivesTheSameCurve) {
  EXPECT_EQ(search("annealing", 3, 96), search("annealing", 3, 96));
  EXPECT_NE(search("annealing", 3, 96), search("annealing", 4, 96));
}

TEST_F(TableSearch, AllLegalPointsAreFoundAndNoOthers) {
  const std::vector<double> seconds = search("random", 1, 100000, "none");
  EXPECT_EQ(seconds.size(), seconds_of(table_).size());
  EXPECT_EQ(std::ranges::count(seconds, INFINITY),
            std::ranges::count(table_.entries, TableEntry::Outcome::failed, &TableEntry::outcome));
}

// Two points to a trial: the best of each pair, and twice the measurements.
TEST_F(TableSearch, ADoubledSearchMeasuresTwoPointsATrial) {
  const std::vector<double> once = search("random", 1, 64, "none");
  const std::vector<double> twice = search("random-x2", 1, 32, "none");
  ASSERT_EQ(twice.size(), 32U);
  for (size_t i = 0; i < twice.size(); ++i) EXPECT_EQ(twice[i], std::min(once[2 * i], once[2 * i + 1]));
}

}  // namespace
}  // namespace lathe
