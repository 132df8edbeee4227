#include "search/strategies/tree_search.h"

#include <gtest/gtest.h>

#include "search/landscape.h"
#include "search/strategies/random.h"

namespace lathe {
namespace {

TEST(TreeSearch, WithoutAModelItBeatsRandomPoints) {
  double searched = 0;
  double random = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    searched += best_of(run_search(*make_tree_search(Landscape::space(), seed, {}), 512, {}));
    random += best_of(run_search(*make_random(Landscape::space(), seed), 512, {}));
  }
  EXPECT_LT(searched, random);
}

TEST(TreeSearch, AModelChoosesAmongTheCompletions) {
  double with_model = 0;
  double without = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    with_model += best_of(run_search(*make_tree_search(Landscape::space(), seed, {}), 96, perfect()));
    without += best_of(run_search(*make_tree_search(Landscape::space(), seed, {}), 96, {}));
  }
  EXPECT_LT(with_model, 0.7 * without);
}

// The draft is asked, where there is one.
TEST(TreeSearch, RolloutsAreDrafted) {
  Predictor predictor = predictor_of([](std::span<const Point> points) {
    ADD_FAILURE() << "the full model was asked";
    return std::vector<double>(points.size(), 1);
  });
  predictor.draft = perfect().full;
  auto strategy = make_tree_search(Landscape::space(), 1, {});
  EXPECT_EQ(strategy->propose(4, predictor).points.size(), 4U);
}

}  // namespace
}  // namespace lathe
