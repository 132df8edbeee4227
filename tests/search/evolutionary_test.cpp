#include "search/evolutionary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "search/all.h"
#include "search/landscape.h"

namespace lathe {
namespace {

StrategyOptions seeded(uint64_t seed) { return {.seed = seed}; }

TEST(Evolutionary, ReachesTheOptimumOfAPerfectModel) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    auto strategy = make_evolutionary(Landscape::space(), seeded(seed));
    const auto trials = run_search(*strategy, 160, Landscape::perfect_scores);
    EXPECT_DOUBLE_EQ(best_of(trials), Landscape::seconds(Landscape::optimum())) << "seed " << seed;
  }
}

TEST(Evolutionary, NeedsFarFewerTrialsThanRandom) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    auto random = *make_strategy("random", Landscape::space(), seeded(seed));
    const double random_best = best_of(run_search(*random, 128, {}));
    auto strategy = make_evolutionary(Landscape::space(), seeded(seed));
    EXPECT_LT(best_of(run_search(*strategy, 32, Landscape::perfect_scores)), 0.7 * random_best)
        << "seed " << seed;
  }
}

TEST(Evolutionary, DescentImprovesOnAModelThatKnowsNothing) {
  // With constant predictions only the descent can tell good points from bad ones.
  const Scorer blind = [](std::span<const Point> points) { return std::vector<double>(points.size(), 1.0); };
  double with_descent = 0;
  double without = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    StrategyOptions options = seeded(seed);
    options.population = 64;
    options.descent_share = 0.5;
    with_descent += best_of(run_search(*make_evolutionary(Landscape::space(), options), 256, blind));
    options.descent_share = 0;
    without += best_of(run_search(*make_evolutionary(Landscape::space(), options), 256, blind));
  }
  EXPECT_LT(with_descent, without);
}

TEST(Evolutionary, ProposalsAreLegalAndNeverRepeated) {
  SearchSpace space = Landscape::space();
  space.violation = [](const Point& point) -> std::optional<std::string> {
    if (point.integers[0] > 32) return "tile too large";
    return std::nullopt;
  };
  auto strategy = make_evolutionary(space, seeded(4));
  std::set<Point> seen;
  for (const Trial& trial : run_search(*strategy, 320, Landscape::perfect_scores)) {
    EXPECT_TRUE(space.legal(trial.point));
    EXPECT_TRUE(seen.insert(trial.point).second);
  }
  EXPECT_EQ(seen.size(), 320u);
}

// Of the six orders three, and both sketches, are the same program.
TEST(Evolutionary, OfTheSameProgramsPointsOneIsTried) {
  SearchSpace space = Landscape::space();
  space.identity = [](const Point& point) {
    return hash_of(Point{0, [&] {
                           std::vector<int64_t> integers = point.integers;
                           integers[7] = std::max(integers[7], int64_t{3});
                           return integers;
                         }()});
  };
  auto strategy = make_evolutionary(space, seeded(4));
  const Point known{1, {16, 4, 8, 10, 32, 16, 2, 1}};
  strategy->observe(std::vector<Trial>{{known, 1e-3}});
  std::set<uint64_t> seen = {space.identity_of(known)};
  for (const Trial& trial : run_search(*strategy, 320, Landscape::perfect_scores))
    EXPECT_TRUE(seen.insert(space.identity_of(trial.point)).second);
  EXPECT_EQ(seen.size(), 321u);
}

TEST(Evolutionary, SameSeedSameProposals) {
  const auto points = [](uint64_t seed) {
    std::vector<Point> result;
    auto strategy = make_evolutionary(Landscape::space(), seeded(seed));
    for (const Trial& trial : run_search(*strategy, 96, Landscape::perfect_scores))
      result.push_back(trial.point);
    return result;
  };
  EXPECT_EQ(points(11), points(11));
  EXPECT_NE(points(11), points(12));
}

TEST(Evolutionary, TriesInitialPointsFirstAndOnce) {
  SearchSpace space = Landscape::space();
  const Point illegal{0, {3, 1, 1, 1, 1, 1, 0, 0}};
  const Point second{1, {1, 1, 1, 1, 1, 1, 0, 0}};
  space.initial = {illegal, Landscape::optimum(), second, Landscape::optimum()};
  auto strategy = make_evolutionary(space, seeded(0));
  EXPECT_EQ(strategy->propose(1, {}), std::vector{Landscape::optimum()});
  const auto batch = strategy->propose(16, Landscape::perfect_scores);
  ASSERT_EQ(batch.size(), 16u);
  EXPECT_EQ(batch[0], second);
  EXPECT_EQ(std::count(batch.begin(), batch.end(), Landscape::optimum()), 0);
}

TEST(Evolutionary, ObservedPointsAreNotProposedAgain) {
  SearchSpace space = Landscape::space();
  space.initial = {Landscape::optimum()};
  auto strategy = make_evolutionary(space, seeded(0));
  strategy->observe(std::vector<Trial>{{Landscape::optimum(), 1e-3}});
  for (const Trial& trial : run_search(*strategy, 64, Landscape::perfect_scores)) {
    EXPECT_NE(trial.point, Landscape::optimum());
  }
}

TEST(Evolutionary, FirstBatchWithoutAModelIsDiverse) {
  auto strategy = make_evolutionary(Landscape::space(), seeded(3));
  std::set<int64_t> orders;
  std::set<int> sketches;
  for (const Point& point : strategy->propose(16, {})) {
    orders.insert(point.integers[7]);
    sketches.insert(point.sketch);
  }
  EXPECT_EQ(orders.size(), 6u);
  EXPECT_EQ(sketches.size(), 2u);
}

TEST(Evolutionary, UsesUpASmallSpace) {
  SearchSpace space;
  space.sketches = {{{{"a", CategoricalParameter{5}}, {"b", OrderedParameter{{1, 2, 4}}}}},
                    {{{"c", SplitParameter{12, 2, false, 12}}}}};
  space.sketch_names = {"x", "y"};
  space.violation = [](const Point& point) -> std::optional<std::string> {
    if (point.sketch == 1 && point.integers[0] == 12) return "too large";
    return std::nullopt;
  };
  const Scorer blind = [](std::span<const Point> points) { return std::vector<double>(points.size(), 1.0); };
  auto strategy = make_evolutionary(space, seeded(1));
  std::set<Point> seen;
  for (;;) {
    const auto batch = strategy->propose(7, seen.empty() ? Scorer{} : blind);
    if (batch.empty()) break;
    std::vector<Trial> trials;
    for (const Point& point : batch) {
      EXPECT_TRUE(seen.insert(point).second);
      trials.push_back({point, 1.0});
    }
    strategy->observe(trials);
  }
  EXPECT_EQ(seen.size(), 15u + 5u);
}

TEST(Evolutionary, LivesWithFailuresAndUselessScores) {
  const Scorer hopeless = [](std::span<const Point> points) {
    std::vector<double> scores(points.size(), std::numeric_limits<double>::infinity());
    for (size_t i = 0; i < scores.size(); i += 2) scores[i] = std::numeric_limits<double>::quiet_NaN();
    return scores;
  };
  auto strategy = make_evolutionary(Landscape::space(), seeded(1));
  for (int round = 0; round < 4; ++round) {
    std::vector<Trial> failed;
    for (const Point& point : strategy->propose(16, hopeless)) {
      failed.push_back({point, std::numeric_limits<double>::infinity()});
    }
    EXPECT_EQ(failed.size(), 16u);
    strategy->observe(failed);
  }
}

TEST(Evolutionary, ScoresNoMoreThanItsOptionsSay) {
  size_t scored = 0;
  const Scorer counting = [&](std::span<const Point> points) {
    scored += points.size();
    return Landscape::perfect_scores(points);
  };
  StrategyOptions options = seeded(2);
  options.population = 64;
  options.generations = 3;
  auto strategy = make_evolutionary(Landscape::space(), options);
  strategy->propose(16, counting);
  EXPECT_GT(scored, 64u);
  EXPECT_LE(scored, 64u * 3u);
}

}  // namespace
}  // namespace lathe
