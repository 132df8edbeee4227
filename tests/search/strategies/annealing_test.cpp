#include "search/strategies/annealing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "search/landscape.h"
#include "search/strategies/random.h"

namespace lathe {
namespace {

AnnealingOptions small() { return {.batch = 16, .chains = 32, .steps = 60, .patience = 20}; }

TEST(Annealing, ComesNearTheOptimumOfAPerfectModel) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const double random = best_of(run_search(*make_random(Landscape::space(), seed), 96, {}));
    const double annealed =
        best_of(run_search(*make_annealing(Landscape::space(), seed, {.batch = 16}), 96, perfect()));
    EXPECT_LT(annealed, 3 * Landscape::seconds(Landscape::optimum())) << "seed " << seed;
    EXPECT_LT(annealed, 0.5 * random) << "seed " << seed;
  }
}

TEST(Annealing, TheFirstBatchIsRandomWithoutRepetition) {
  auto strategy = make_annealing(Landscape::space(), 1, small());
  EXPECT_EQ(strategy->batch(), 16);
  const auto points = strategy->propose(16, {}).points;
  EXPECT_EQ(std::set<Point>(points.begin(), points.end()).size(), 16U);
}

// The chains stand where the batch before left them: without heat later batches begin lower than the first.
TEST(Annealing, ChainsGoOnFromBatchToBatch) {
  AnnealingOptions options = small();
  options.steps = 3;
  options.heat = 0;
  const auto best_of_batches = [&](int batches) {
    double best = 0;
    for (uint64_t seed = 0; seed < 5; ++seed) {
      auto strategy = make_annealing(Landscape::space(), seed, options);
      std::vector<Point> points;
      for (int i = 0; i < batches; ++i) points = strategy->propose(16, perfect()).points;
      best += Landscape::seconds(*std::ranges::min_element(points, {}, Landscape::seconds));
    }
    return best;
  };
  EXPECT_LT(best_of_batches(8), 0.8 * best_of_batches(1));
}

TEST(Annealing, AShareOfEachBatchIsRandom) {
  AnnealingOptions options = small();
  options.random_share = 1;
  auto strategy = make_annealing(Landscape::space(), 1, options);
  const Predictor forbidden = predictor_of([](std::span<const Point> points) -> std::vector<double> {
    EXPECT_TRUE(points.empty());
    return {};
  });
  EXPECT_EQ(strategy->propose(16, forbidden).points.size(), 16U);
}

TEST(Annealing, DiversityCoversMoreValues) {
  const auto values = [](double candidates) {
    size_t covered = 0;
    for (uint64_t seed = 0; seed < 5; ++seed) {
      AnnealingOptions options = small();
      options.candidates = candidates;
      auto strategy = make_annealing(Landscape::space(), seed, options);
      std::set<std::pair<size_t, int64_t>> found;
      for (const Point& point : strategy->propose(16, perfect()).points)
        for (size_t slot = 0; slot < point.integers.size(); ++slot) found.emplace(slot, point.integers[slot]);
      covered += found.size();
    }
    return covered;
  };
  EXPECT_GT(values(4), values(1));
}

// Of points of one mean the bound takes the unsure ones.
TEST(Annealing, AnAcquisitionTakesThePlaceOfTheMean) {
  Predictor predictor;
  predictor.full = [](std::span<const Point> points) {
    Prediction prediction;
    for (const Point& point : points) {
      prediction.mean.push_back(1);
      prediction.stddev.push_back(point.integers[7] == 2 ? 0.5 : 0.1);
    }
    return prediction;
  };
  for (const char* acquisition : {"ucb", "ei"}) {
    AnnealingOptions options = small();
    options.acquisition = acquisition;
    options.random_share = 0;
    options.candidates = 1;
    auto strategy = make_annealing(Landscape::space(), 1, options);
    const Point known{0, {16, 4, 8, 10, 32, 16, 2, 0}};
    strategy->observe(std::vector<Trial>{{known, 1.0}});
    for (const Point& point : strategy->propose(16, predictor).points)
      EXPECT_EQ(point.integers[7], 2) << acquisition;
  }
}

TEST(Annealing, PlainEnergiesAndUselessModelsEndToo) {
  AnnealingOptions options = small();
  options.energy = "plain";
  auto strategy = make_annealing(Landscape::space(), 1, options);
  const Predictor hopeless = predictor_of(
      [](std::span<const Point> points) { return std::vector<double>(points.size(), INFINITY); });
  EXPECT_EQ(strategy->propose(16, hopeless).points.size(), 16U);
  EXPECT_EQ(strategy->propose(16, perfect()).points.size(), 16U);
}

}  // namespace
}  // namespace lathe
