// A caller's search method and cost predictor behind the tuner's own faces.
#include "session/own_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <utility>

namespace lathe {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Two sketches of three and two points; the last of the first is illegal.
SearchSpace five_points() {
  SearchSpace space;
  space.sketches = {Domain{{{"size", OrderedParameter{{4, 8, 16}}}}},
                    Domain{{{"kind", CategoricalParameter{2}}}}};
  space.sketch_names = {"tile", "loop"};
  space.violation = [](const Point& point) -> std::optional<std::string> {
    if (point.sketch == 0 && point.integers[0] == 2) return "too large";
    return std::nullopt;
  };
  space.initial = {{0, {1}}, {1, {0}}};
  return space;
}

// What a method was given and answers.
struct Script {
  PointSpace* space = nullptr;
  uint64_t seed = 0;
  std::vector<SearchPoint> answer;
  std::vector<double> costs;  // that the scorer gave for the answer
  bool had_scorer = false;
  std::vector<PointOutcome> observed;
};

class ScriptedMethod : public SearchMethod {
 public:
  explicit ScriptedMethod(Script& script) : script_(script) {}
  std::vector<SearchPoint> propose(int, const PointScorer& scorer) override {
    script_.had_scorer = static_cast<bool>(scorer);
    if (scorer) script_.costs = scorer(script_.answer);
    return script_.answer;
  }
  void observe(std::span<const PointOutcome> outcomes) override {
    script_.observed.insert(script_.observed.end(), outcomes.begin(), outcomes.end());
  }

 private:
  Script& script_;
};

class OwnSearch : public ::testing::Test {
 protected:
  std::unique_ptr<Strategy> strategy(SearchSpace space = five_points()) {
    TuneOptions options;
    use_own_search(options,
                   [this](PointSpace& given, uint64_t seed) {
                     script_.space = &given;
                     script_.seed = seed;
                     return std::make_unique<ScriptedMethod>(script_);
                   },
                   {});
    EXPECT_FALSE(options.cost_model_factory);
    return options.strategy_factory(std::move(space), 7).value();
  }

  Script script_;
};

TEST_F(OwnSearch, WhatIsNotGivenLeavesTheNamesInForce) {
  TuneOptions options;
  use_own_search(options, {}, {});
  EXPECT_FALSE(options.strategy_factory);
  EXPECT_FALSE(options.cost_model_factory);
  EXPECT_EQ(options.strategy, "evolutionary");
}

TEST_F(OwnSearch, TheSpaceKnowsWhatIsLegal) {
  const auto own = strategy();
  EXPECT_EQ(script_.seed, 7U);
  const PointSpace& space = *script_.space;
  EXPECT_THAT(space.sketch_names(), ElementsAre("tile", "loop"));
  EXPECT_THAT(space.initial(), ElementsAre(SearchPoint{0, {1}}, SearchPoint{1, {0}}));
  EXPECT_TRUE(space.is_legal({0, {0}}));
  EXPECT_TRUE(space.is_legal({1, {1}}));
  for (const SearchPoint& wrong : std::vector<SearchPoint>{
           {0, {2}}, {0, {3}}, {0, {-1}}, {0, {}}, {0, {0, 0}}, {1, {2}}, {2, {0}}, {-1, {0}}})
    EXPECT_FALSE(space.is_legal(wrong)) << wrong.sketch;
}

TEST_F(OwnSearch, NeighboursDifferByOneStepLegalOrNot) {
  const auto own = strategy();
  EXPECT_THAT(script_.space->neighbours({0, {1}}),
              ::testing::UnorderedElementsAre(SearchPoint{0, {0}}, SearchPoint{0, {2}}));
  EXPECT_THAT(script_.space->neighbours({1, {0}}), ElementsAre(SearchPoint{1, {1}}));
  EXPECT_THAT(script_.space->neighbours({0, {2}}), IsEmpty());
  EXPECT_THAT(script_.space->neighbours({5, {0}}), IsEmpty());
}

TEST_F(OwnSearch, EachPointIsUsedOnceAndDrawnWhileItIsNot) {
  const auto own = strategy();
  PointSpace& space = *script_.space;
  EXPECT_TRUE(space.use({0, {1}}));
  EXPECT_FALSE(space.use({0, {1}}));
  EXPECT_FALSE(space.use({3, {1}}));
  std::set<SearchPoint> drawn;
  for (const SearchPoint& point : space.draw(2)) drawn.insert(point);
  EXPECT_EQ(drawn.size(), 2U);
  for (const SearchPoint& point : space.draw(9)) drawn.insert(point);
  EXPECT_THAT(drawn, ElementsAre(SearchPoint{0, {0}}, SearchPoint{1, {0}}, SearchPoint{1, {1}}));
  EXPECT_THAT(space.draw(1), IsEmpty());
}

TEST_F(OwnSearch, OnlyAsManyLegalProposalsAsWereAskedForAreTaken) {
  const auto own = strategy();
  script_.answer = {{0, {2}}, {0, {1}}, {9, {0}}, {1, {0}}, {1, {1}}};
  EXPECT_EQ(own->propose(2, {}).points, (std::vector<Point>{{0, {1}}, {1, {0}}}));
  EXPECT_FALSE(script_.had_scorer);
  script_.answer = {{0, {2}}};
  EXPECT_THAT(own->propose(2, {}).points, IsEmpty());
}

TEST_F(OwnSearch, TheScorerAnswersForTheMethodsPoints) {
  const auto own = strategy();
  script_.answer = {{0, {1}}, {1, {1}}};
  std::vector<Point> scored;
  Predictor predictor;
  predictor.full = [&](std::span<const Point> points) {
    scored.assign(points.begin(), points.end());
    return Prediction{{0.5, kInfinity}, {0, 0}};
  };
  EXPECT_EQ(own->propose(4, predictor).points.size(), 2U);
  EXPECT_TRUE(script_.had_scorer);
  EXPECT_EQ(scored, (std::vector<Point>{{0, {1}}, {1, {1}}}));
  EXPECT_THAT(script_.costs, ElementsAre(0.5, kInfinity));
}

TEST_F(OwnSearch, WhatIsObservedIsNeverDrawn) {
  const auto own = strategy();
  own->observe(std::vector<Trial>{{{0, {0}}, 1e-3}, {{1, {1}}, kInfinity}});
  ASSERT_EQ(script_.observed.size(), 2U);
  EXPECT_EQ(script_.observed[0].point, (SearchPoint{0, {0}}));
  EXPECT_EQ(script_.observed[0].seconds, 1e-3);
  EXPECT_EQ(script_.observed[1].seconds, kInfinity);
  EXPECT_THAT(script_.space->draw(9),
              ::testing::UnorderedElementsAre(SearchPoint{0, {1}}, SearchPoint{1, {0}}));
}

// The same seed draws the same, another one in another order.
TEST_F(OwnSearch, DrawsFollowTheSeed) {
  SearchSpace space;
  space.sketches = {Domain{{{"tile", SplitParameter{1 << 20, 4, false, 64}}}}};
  space.sketch_names = {"tile"};
  std::vector<std::vector<SearchPoint>> drawn;
  for (const uint64_t seed : {1, 1, 2}) {
    TuneOptions options;
    use_own_search(options,
                   [&](PointSpace& given, uint64_t) {
                     drawn.push_back(given.draw(20));
                     return std::make_unique<ScriptedMethod>(script_);
                   },
                   {});
    ASSERT_TRUE(options.strategy_factory(space, seed).has_value());
  }
  EXPECT_EQ(drawn[0], drawn[1]);
  EXPECT_NE(drawn[0], drawn[2]);
}

// Keeps what it learns from, and gives each row its first column as a cost.
class FirstColumn : public CostPredictor {
 public:
  explicit FirstColumn(std::vector<double>& learned) : learned_(learned) {}
  bool fit(const ProgramRows& rows, std::span<const double> seconds) override {
    learned_.assign(rows.values.begin(), rows.values.end());
    learned_.insert(learned_.end(), seconds.begin(), seconds.end());
    return seconds.size() > 1;
  }
  std::vector<double> predict(const ProgramRows& rows) const override {
    std::vector<double> costs;
    for (size_t at = 0; at < rows.values.size(); at += static_cast<size_t>(rows.columns))
      costs.push_back(rows.values[at]);
    if (rows.values[0] < 0) costs.pop_back();
    return costs;
  }

 private:
  std::vector<double>& learned_;
};

TEST(OwnCostModel, LearnsAndPredictsByRows) {
  std::vector<double> learned;
  TuneOptions options;
  use_own_search(options, {}, [&] { return std::make_unique<FirstColumn>(learned); });
  EXPECT_FALSE(options.strategy_factory);
  const std::unique_ptr<CostModel> model = options.cost_model_factory().value();
  EXPECT_FALSE(model->fitted());
  const auto rows_of = [](const std::vector<std::vector<float>>& rows) {
    FeatureSet set;
    for (const std::vector<float>& row : rows) set.add_row(row);
    return set;
  };
  const FeatureSet rows = rows_of({{5, 1, 2}, {6, 3, 4}});
  const char* unfitted = "the model was not fitted on rows of this length";
  EXPECT_EQ(model->predict(rows).error().message, unfitted);
  ASSERT_TRUE(model->fit({rows_of({{5, 1, 2}}), {1e-3}, {0}}).has_value());
  EXPECT_FALSE(model->fitted());
  ASSERT_TRUE(model->fit({rows, {1e-3, kInfinity}, {0, 0}}).has_value());
  EXPECT_TRUE(model->fitted());
  EXPECT_THAT(learned, ElementsAre(5, 1, 2, 6, 3, 4, 1e-3, kInfinity));
  const Result<Prediction> prediction = model->predict(rows);
  ASSERT_TRUE(prediction.has_value());
  EXPECT_THAT(prediction->mean, ElementsAre(5, 6));
  EXPECT_THAT(prediction->stddev, ElementsAre(0, 0));
  EXPECT_EQ(model->predict(rows_of({{5, 1}})).error().message, unfitted);
  EXPECT_EQ(model->predict(rows_of({{-1, 1, 2}})).error().message,
            "the cost predictor did not give one cost for each row");
}

}  // namespace
}  // namespace lathe
