#include "search/strategies/evolutionary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "search/all.h"
#include "search/landscape.h"

namespace lathe {
namespace {

// With more points scored than a network's tuning can afford.
EvolutionaryOptions thorough() { return {.population = 512, .generations = 4}; }

TEST(Evolutionary, ReachesTheOptimumOfAPerfectModel) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    auto strategy = make_evolutionary(Landscape::space(), seed, thorough());
    const auto trials = run_search(*strategy, 160, perfect());
    EXPECT_DOUBLE_EQ(best_of(trials), Landscape::seconds(Landscape::optimum())) << "seed " << seed;
  }
}

TEST(Evolutionary, NeedsFarFewerTrialsThanRandom) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    auto random = *make_strategy("random", Landscape::space(), seed);
    const double random_best = best_of(run_search(*random, 128, {}));
    auto strategy = make_evolutionary(Landscape::space(), seed, thorough());
    EXPECT_LT(best_of(run_search(*strategy, 32, perfect())), 0.7 * random_best) << "seed " << seed;
  }
}

TEST(Evolutionary, DescentImprovesOnAModelThatKnowsNothing) {
  // With constant predictions only the descent can tell good points from bad ones.
  double with_descent = 0;
  double without = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    EvolutionaryOptions options = thorough();
    options.population = 64;
    options.descent_share = 0.5;
    with_descent += best_of(run_search(*make_evolutionary(Landscape::space(), seed, options), 256, blind()));
    options.descent_share = 0;
    without += best_of(run_search(*make_evolutionary(Landscape::space(), seed, options), 256, blind()));
  }
  EXPECT_LT(with_descent, without);
}

TEST(Evolutionary, ProposalsAreLegalAndNeverRepeated) {
  SearchSpace space = Landscape::space();
  space.violation = [](const Point& point) -> std::optional<std::string> {
    if (point.integers[0] > 32) return "tile too large";
    return std::nullopt;
  };
  auto strategy = make_evolutionary(space, 4, thorough());
  std::set<Point> seen;
  for (const Trial& trial : run_search(*strategy, 320, perfect())) {
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
  auto strategy = make_evolutionary(space, 4, thorough());
  const Point known{1, {16, 4, 8, 10, 32, 16, 2, 1}};
  strategy->observe(std::vector<Trial>{{known, 1e-3}});
  std::set<uint64_t> seen = {space.identity_of(known)};
  for (const Trial& trial : run_search(*strategy, 320, perfect()))
    EXPECT_TRUE(seen.insert(space.identity_of(trial.point)).second);
  EXPECT_EQ(seen.size(), 321u);
}

TEST(Evolutionary, SameSeedSameProposals) {
  const auto points = [](uint64_t seed) {
    std::vector<Point> result;
    auto strategy = make_evolutionary(Landscape::space(), seed, thorough());
    for (const Trial& trial : run_search(*strategy, 96, perfect())) result.push_back(trial.point);
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
  auto strategy = make_evolutionary(space, 0, thorough());
  EXPECT_EQ(strategy->propose(1, {}).points, std::vector{Landscape::optimum()});
  const auto batch = strategy->propose(16, perfect()).points;
  ASSERT_EQ(batch.size(), 16u);
  EXPECT_EQ(batch[0], second);
  EXPECT_EQ(std::count(batch.begin(), batch.end(), Landscape::optimum()), 0);
}

TEST(Evolutionary, ObservedPointsAreNotProposedAgain) {
  SearchSpace space = Landscape::space();
  space.initial = {Landscape::optimum()};
  auto strategy = make_evolutionary(space, 0, thorough());
  strategy->observe(std::vector<Trial>{{Landscape::optimum(), 1e-3}});
  for (const Trial& trial : run_search(*strategy, 64, perfect())) {
    EXPECT_NE(trial.point, Landscape::optimum());
  }
}

TEST(Evolutionary, FirstBatchWithoutAModelIsDiverse) {
  auto strategy = make_evolutionary(Landscape::space(), 3, thorough());
  std::set<int64_t> orders;
  std::set<int> sketches;
  for (const Point& point : strategy->propose(16, {}).points) {
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
  auto strategy = make_evolutionary(space, 1, thorough());
  std::set<Point> seen;
  for (;;) {
    const auto batch = strategy->propose(7, seen.empty() ? Predictor{} : blind()).points;
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
  const Predictor hopeless = predictor_of([](std::span<const Point> points) {
    std::vector<double> scores(points.size(), std::numeric_limits<double>::infinity());
    for (size_t i = 0; i < scores.size(); i += 2) scores[i] = std::numeric_limits<double>::quiet_NaN();
    return scores;
  });
  auto strategy = make_evolutionary(Landscape::space(), 1, thorough());
  for (int round = 0; round < 4; ++round) {
    std::vector<Trial> failed;
    for (const Point& point : strategy->propose(16, hopeless).points) {
      failed.push_back({point, std::numeric_limits<double>::infinity()});
    }
    EXPECT_EQ(failed.size(), 16u);
    strategy->observe(failed);
  }
}

TEST(Evolutionary, ScoresNoMoreThanItsOptionsSay) {
  size_t scored = 0;
  const Predictor counting = predictor_of([&](std::span<const Point> points) {
    scored += points.size();
    return Landscape::perfect_scores(points);
  });
  EvolutionaryOptions options;
  options.population = 64;
  options.generations = 3;
  auto strategy = make_evolutionary(Landscape::space(), 2, options);
  strategy->propose(16, counting);
  EXPECT_GT(scored, 64u);
  EXPECT_LE(scored, 64u * 3u);
}

}  // namespace
}  // namespace lathe
