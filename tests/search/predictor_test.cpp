#include "search/predictor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/check.h"
#include "search/landscape.h"

namespace lathe {
namespace {

TEST(Predictor, NaNIsWorthNoTrial) {
  const std::vector<Point> points = {{0, {1}}, {0, {2}}, {0, {3}}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Predictor predictor =
      predictor_of([&](std::span<const Point>) { return std::vector<double>{2.0, nan, 1.0}; });
  EXPECT_EQ(mean_costs(predictor, points), (std::vector<double>{2.0, INFINITY, 1.0}));
}

TEST(Predictor, OfNothingNothingIsAsked) {
  const Predictor predictor = predictor_of([](std::span<const Point>) -> std::vector<double> {
    ADD_FAILURE() << "asked";
    return {};
  });
  EXPECT_TRUE(mean_costs(predictor, {}).empty());
}

TEST(Predictor, AnswersForEveryPoint) {
  const std::vector<Point> points = {{0, {1}}, {0, {2}}};
  EXPECT_THROW(
      mean_costs(predictor_of([](std::span<const Point>) { return std::vector<double>{1.0}; }), points),
      InternalError);
}

TEST(Predictor, AnEmptyOneIsNone) {
  EXPECT_FALSE(Predictor());
  EXPECT_TRUE(blind());
}

}  // namespace
}  // namespace lathe
