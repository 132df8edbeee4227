#include "search/parts/choice_tree.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "search/landscape.h"

namespace lathe {
namespace {

TEST(ChoiceTree, APathIsTheSketchAndThenEveryChoice) {
  const SearchSpace space = Landscape::space();
  const Point point{1, {16, 4, 8, 10, 32, 16, 2, 3}};
  const std::vector<Choice> path = path_to(space, point);
  EXPECT_EQ(path, (std::vector<Choice>{{1}, {8}, {4}, {16}, {32}, {10}, {16}, {2}, {3}}))
      << "factors from the innermost";
  Rng rng(1);
  EXPECT_EQ(completed(space, path, rng), point);
}

TEST(ChoiceTree, CompletionsAreLegalAndBeginAsTheyMust) {
  SearchSpace space = Landscape::space();
  space.sketches[0].parameters.push_back({"loops", PermutationParameter{{"x", "y", "z"}}});
  Rng rng(2);
  for (int i = 0; i < 200; ++i) {
    Point point{0, sample(space.sketches[0], rng)};
    std::vector<Choice> path = path_to(space, point);
    path.resize(rng.below(path.size() + 1));
    const Point whole = completed(space, path, rng);
    EXPECT_TRUE(check(space.sketches[static_cast<size_t>(whole.sketch)], whole.integers));
    std::vector<Choice> begin = path_to(space, whole);
    begin.resize(path.size());
    EXPECT_EQ(begin, path);
  }
}

// r = best / this, and C sqrt(2 ln N / n).
TEST(ChoiceTree, TheBoundIsThatOfUct) {
  EXPECT_NEAR(tree_bound(1, 2, 3, 10, 0.3), 0.5 + 0.3 * std::sqrt(2 * std::log(10) / 3), 1e-12);
  EXPECT_NEAR(tree_bound(0, 0, 3, 10, 0.3), 0.3 * std::sqrt(2 * std::log(10) / 3), 1e-12);
}

TEST(ChoiceTree, ANodeGrowsWithItsVisitsAndTheBetterChildIsTaken) {
  ChoiceTree tree(0);
  EXPECT_TRUE(tree.select().empty());
  tree.visit({{0}, {0}}, 1);
  EXPECT_TRUE(tree.select().empty()) << "two children at least";
  tree.visit({{1}, {0}}, 1);
  EXPECT_TRUE(tree.has_child({}, {1}));
  EXPECT_FALSE(tree.has_child({}, {2}));
  tree.record({{0}, {0}}, 2.0);
  tree.record({{1}, {0}}, 1.0);
  EXPECT_EQ(tree.select(), (std::vector<Choice>{{1}}));
  tree.close({{1}});
  EXPECT_EQ(tree.select(), (std::vector<Choice>{{0}}));
  tree.close({{0}});
  EXPECT_TRUE(tree.select().empty()) << "another child is asked for";
}

TEST(ChoiceTree, ExplorationTakesWhatWasVisitedLess) {
  ChoiceTree tree(10);
  for (int i = 0; i < 3; ++i) tree.visit({{0}}, 1);
  tree.visit({{1}}, 1);
  tree.record({{0}}, 1.0);
  tree.record({{1}}, 5.0);
  EXPECT_EQ(tree.select(), (std::vector<Choice>{{1}}));
}

}  // namespace
}  // namespace lathe
