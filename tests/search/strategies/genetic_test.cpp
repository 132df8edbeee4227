#include "search/strategies/genetic.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "search/landscape.h"
#include "search/strategies/random.h"

namespace lathe {
namespace {

TEST(Genetic, GenerationsBeatRandomPoints) {
  double bred = 0;
  double random = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    bred += best_of(run_search(*make_genetic(Landscape::space(), seed, {.population = 32}), 320, {}));
    random += best_of(run_search(*make_random(Landscape::space(), seed), 320, {}));
  }
  EXPECT_LT(bred, 0.8 * random);
}

TEST(Genetic, AGenerationIsMeasuredBeforeTheNextIsBred) {
  auto strategy = make_genetic(Landscape::space(), 1, {.population = 10});
  Proposal first = strategy->propose(64, {});
  EXPECT_EQ(first.points.size(), 10U);
  EXPECT_FALSE(first.exhausted);
  std::vector<Trial> trials;
  for (const Point& point : first.points) trials.push_back({point, Landscape::seconds(point)});
  strategy->observe(trials);
  EXPECT_EQ(strategy->propose(64, {}).points.size(), 10U);
}

// Without mutation every component of a child is one of a parent's.
TEST(Genetic, AChildHasItsParentsComponents) {
  auto strategy = make_genetic(Landscape::space(), 1, {.population = 40, .mutation = 0});
  std::vector<Trial> trials;
  std::set<std::pair<size_t, int64_t>> known;
  for (const Point& point : strategy->propose(40, {}).points) {
    trials.push_back({point, Landscape::seconds(point)});
    for (size_t slot = 0; slot < point.integers.size(); ++slot) known.emplace(slot, point.integers[slot]);
  }
  strategy->observe(trials);
  int strange = 0;
  for (const Point& point : strategy->propose(40, {}).points)
    for (size_t slot = 0; slot < point.integers.size(); ++slot)
      strange += known.contains({slot, point.integers[slot]}) ? 0 : 1;
  EXPECT_EQ(strange, 0);
}

TEST(Genetic, WhereAllFailRandomPointsAreTried) {
  auto strategy = make_genetic(Landscape::space(), 1, {.population = 8});
  for (int round = 0; round < 4; ++round) {
    std::vector<Trial> failed;
    for (const Point& point : strategy->propose(8, {}).points)
      failed.push_back({point, std::numeric_limits<double>::infinity()});
    EXPECT_EQ(failed.size(), 8U);
    strategy->observe(failed);
  }
}

}  // namespace
}  // namespace lathe
