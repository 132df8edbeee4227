#include "search/parts/sketch_bandit.h"

#include <gtest/gtest.h>

#include <limits>

#include "search/all.h"
#include "search/landscape.h"

namespace lathe {
namespace {

constexpr double kFailed = std::numeric_limits<double>::infinity();

Trial trial(int sketch, double seconds) { return {{sketch, {}}, seconds}; }

TEST(SketchBandit, EverySketchIsInPlayUntilItWasTried) {
  SketchBandit bandit(4);
  EXPECT_EQ(bandit.in_play(), (std::vector{true, true, true, true}));
  bandit.observe(std::vector{trial(0, 1.0), trial(1, 4.0), trial(2, 1.5)});
  EXPECT_EQ(bandit.in_play(), (std::vector{true, false, true, true}));
}

TEST(SketchBandit, TheCloserTheLongerInPlay) {
  const auto trials_in_play = [](double seconds) {
    SketchBandit bandit(2);
    bandit.observe(std::vector{trial(0, 1.0)});
    int trials = 0;
    for (int i = 0; i < 200; ++i) {
      const bool in_play = bandit.in_play()[1];
      trials += in_play ? 1 : 0;
      bandit.observe(std::vector{in_play ? trial(1, seconds) : trial(0, 1.0)});
    }
    return trials;
  };
  EXPECT_LE(trials_in_play(3.0), 4);
  EXPECT_GT(trials_in_play(1.1), 5 * trials_in_play(2.0));
}

TEST(SketchBandit, ASketchThatOnlyFailsGoesAndTheBestStays) {
  SketchBandit bandit(2);
  bandit.observe(std::vector{trial(1, kFailed), trial(1, kFailed), trial(1, kFailed)});
  EXPECT_EQ(bandit.in_play(), (std::vector{true, true}));
  bandit.observe(std::vector{trial(0, 1.0)});
  EXPECT_EQ(bandit.in_play(), (std::vector{true, false}));
}

TEST(SketchBandit, ASketchMayComeFromBehind) {
  SketchBandit bandit(2);
  bandit.observe(std::vector{trial(0, 1.0), trial(0, 1.0), trial(1, 1.3), trial(1, 0.4)});
  EXPECT_EQ(bandit.in_play(), (std::vector{false, true}));
}

// The search itself: the sketch that is half as fast everywhere loses, and its trials are few.
TEST(SketchBandit, TheSearchSpendsFewTrialsOnALostSketch) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    SearchSpace space = Landscape::space();
    Point slow = Landscape::optimum();
    slow.sketch = 1;
    space.initial = {slow, Landscape::optimum()};
    // The model knows nothing, so that only the bandit tells the sketches apart.
    auto strategy = *make_strategy("evolutionary", space, seed);
    int lost = 0;
    for (const Trial& trial : run_search(*strategy, 128, blind())) lost += trial.point.sketch == 1 ? 1 : 0;
    EXPECT_LE(lost, 24) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lathe
