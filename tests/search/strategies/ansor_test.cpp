#include "search/strategies/ansor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "search/landscape.h"

namespace lathe {
namespace {

AnsorOptions small() { return {.batch = 16, .population = 128}; }
BansorOptions small_bansor() { return {.batch = 16, .population = 128}; }

std::set<int> sketches_of(const std::vector<Point>& points) {
  std::set<int> sketches;
  for (const Point& point : points) sketches.insert(point.sketch);
  return sketches;
}

TEST(Ansor, ReachesAGoodPointOfAPerfectModel) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const double optimum = Landscape::seconds(Landscape::optimum());
    EXPECT_LT(best_of(run_search(*make_ansor(Landscape::space(), seed, {.batch = 16}), 160, perfect())),
              3 * optimum);
    EXPECT_LT(best_of(run_search(*make_bansor(Landscape::space(), seed), 160, perfect())), 3 * optimum);
  }
}

TEST(Ansor, ARoundIsOfOneSketchAnIndividualOfAny) {
  auto by_round = make_ansor(Landscape::space(), 1, small());
  std::set<int> all;
  for (int round = 0; round < 12; ++round) {
    const std::vector<Point> points = by_round->propose(16, round == 0 ? Predictor() : perfect()).points;
    const std::set<int> sketches = sketches_of(points);
    EXPECT_EQ(sketches.size(), 1U);
    all.insert(*sketches.begin());
  }
  EXPECT_EQ(all.size(), 2U);
  AnsorOptions individual = small();
  individual.sketch_choice = "individual";
  EXPECT_EQ(sketches_of(make_ansor(Landscape::space(), 1, individual)->propose(16, {}).points).size(), 2U);
}

// Every sketch once, in order; then the better one far more often.
TEST(Ansor, BansorTakesEachSketchOnceAndThenTheBetterOne) {
  auto strategy = make_bansor(Landscape::space(), 1, small_bansor());
  std::vector<int> order;
  for (int round = 0; round < 24; ++round) {
    const std::vector<Point> points = strategy->propose(16, {}).points;
    order.push_back(points.front().sketch);
    std::vector<Trial> trials;
    for (const Point& point : points) trials.push_back({point, point.sketch == 0 ? 1.0 : 2.0});
    strategy->observe(trials);
  }
  EXPECT_EQ(order[0], 0);
  EXPECT_EQ(order[1], 1);
  EXPECT_GT(std::ranges::count(order, 0), 16);
  EXPECT_GT(std::ranges::count(order, 1), 1);
}

TEST(Ansor, ASketchThatIsUsedUpLeavesItsRoundsToTheOthers) {
  SearchSpace space;
  space.sketches = {{{{"a", CategoricalParameter{3}}}}, {{{"b", CategoricalParameter{40}}}}};
  space.sketch_names = {"x", "y"};
  auto strategy = make_bansor(space, 1, small_bansor());
  std::set<Point> seen;
  for (int round = 0; round < 20; ++round) {
    const Proposal proposal = strategy->propose(16, {});
    if (proposal.exhausted) break;
    std::vector<Trial> trials;
    for (const Point& point : proposal.points) {
      EXPECT_TRUE(seen.insert(point).second);
      trials.push_back({point, 1});
    }
    strategy->observe(trials);
  }
  EXPECT_EQ(seen.size(), 43U);
}

}  // namespace
}  // namespace lathe
