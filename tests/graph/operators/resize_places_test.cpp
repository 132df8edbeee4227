// Places of resized axes in whole numbers, beside their formulas and beside f32, place by place.
#include "graph/operators/resize_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"

namespace lathe {
namespace {

constexpr CoordinateMode kModes[] = {CoordinateMode::half_pixel, CoordinateMode::half_pixel_or_first,
                                     CoordinateMode::asymmetric, CoordinateMode::align_corners};
constexpr NearestMode kRoundings[] = {NearestMode::round_prefer_floor, NearestMode::round_prefer_ceil,
                                      NearestMode::floor, NearestMode::ceil, NearestMode::floor_or_ceil};

ResizedAxis axis_between(int64_t from, int64_t to) {
  return {from, to, static_cast<float>(to) / static_cast<float>(from)};
}

int64_t drawn_extent(Rng& rng) { return 1 + static_cast<int64_t>(rng.below(70)); }

TEST(PlaceOf, RoundsDown) {
  EXPECT_EQ(place_of({3, 1, 4}, 0), 0);
  EXPECT_EQ(place_of({3, 1, 4}, 1), 1);
  EXPECT_EQ(place_of({3, 1, 4}, 2), 1);
  EXPECT_EQ(place_of({1, -4, 4}, 0), -1);
  EXPECT_EQ(place_of({1, -5, 4}, 0), -2);
  EXPECT_EQ(place_of({1, -1, 4}, 0), -1);
  EXPECT_EQ(place_of({0, 0, 1}, 99), 0);
}

void expect_linear(CoordinateMode mode, const ResizedAxis& axis, const Coordinate& expected) {
  const std::optional<Coordinate> at = linear_coordinate(mode, axis);
  ASSERT_TRUE(at);
  EXPECT_EQ(at->scale, expected.scale);
  EXPECT_EQ(at->shift, expected.shift);
  EXPECT_EQ(at->divisor, expected.divisor);
}

TEST(LinearCoordinate, IsAFractionOfTheExtents) {
  expect_linear(CoordinateMode::half_pixel, axis_between(2, 4), {4, -2, 8});
  expect_linear(CoordinateMode::asymmetric, axis_between(2, 4), {2, 0, 4});
  expect_linear(CoordinateMode::align_corners, axis_between(2, 4), {1, 0, 3});
  expect_linear(CoordinateMode::half_pixel_or_first, axis_between(5, 1), {0, 0, 1});
  expect_linear(CoordinateMode::align_corners, axis_between(5, 1), {0, 0, 1});
  expect_linear(CoordinateMode::half_pixel, axis_between(5, 1), {10, 4, 2});
}

// Of a scale that is not the ratio of the extents, 6 to 5, the fraction 4 / 5 of the scale itself.
TEST(LinearCoordinate, IsOfTheScaleThatIsGiven) {
  expect_linear(CoordinateMode::asymmetric, {5, 6, 1.25F}, {4, 0, 5});
  expect_linear(CoordinateMode::asymmetric, {3, 10, 1 / 0.3F}, {3, 0, 10});
}

TEST(LinearCoordinate, IsNoneWhereNoShortFractionIsTheScale) {
  EXPECT_FALSE(linear_coordinate(CoordinateMode::half_pixel, {1, 1, 1e12F}));
  EXPECT_FALSE(nearest_places(CoordinateMode::asymmetric, NearestMode::floor, {2, 3, 1e12F}));
}

double exact_coordinate(CoordinateMode mode, const ResizedAxis& axis, int64_t y) {
  const bool is_first =
      axis.to == 1 && (mode == CoordinateMode::half_pixel_or_first || mode == CoordinateMode::align_corners);
  if (is_first) return 0;
  const auto from = static_cast<double>(axis.from), to = static_cast<double>(axis.to);
  const auto at = static_cast<double>(y);
  if (mode == CoordinateMode::asymmetric) return at * from / to;
  if (mode == CoordinateMode::align_corners) return at * (from - 1) / (to - 1);
  return (at + 0.5) * from / to - 0.5;
}

TEST(LinearCoordinate, IsTheFormulasEverywhere) {
  Rng rng(8);
  for (int round = 0; round < 200; ++round) {
    const ResizedAxis axis = axis_between(drawn_extent(rng), drawn_extent(rng));
    for (const CoordinateMode mode : kModes) {
      const std::optional<Coordinate> at = linear_coordinate(mode, axis);
      ASSERT_TRUE(at) << axis.from << " to " << axis.to;
      for (int64_t y = 0; y < axis.to; ++y) {
        const auto value = static_cast<double>(at->scale * y + at->shift) / static_cast<double>(at->divisor);
        EXPECT_NEAR(value, exact_coordinate(mode, axis, y), 1e-9) << axis.from << " to " << axis.to;
      }
    }
  }
}

// The place that pieces give, held within the axis.
int64_t place_by(const std::vector<CoordinatePiece>& pieces, const ResizedAxis& axis, int64_t y) {
  const auto behind =
      std::ranges::find_if(pieces, [&](const CoordinatePiece& piece) { return piece.begin > y; });
  return std::clamp<int64_t>(place_of(std::prev(behind)->at, y), 0, axis.from - 1);
}

// What a place rounds to, given how far ONNX Runtime's f32 may lie from the whole number or the middle that
// it stands for; where that is not far enough to tell, nothing is expected.
bool is_near_a_border(NearestMode nearest, double at) {
  const bool rounds = nearest == NearestMode::round_prefer_floor || nearest == NearestMode::round_prefer_ceil;
  const double border = rounds ? std::floor(at) + 0.5 : std::round(at);
  return std::abs(at - border) < 1e-4;
}

int64_t exact_place(NearestMode nearest, const ResizedAxis& axis, double at) {
  const bool up = nearest == NearestMode::ceil || (nearest == NearestMode::floor_or_ceil && axis.scale < 1);
  const bool rounds = nearest == NearestMode::round_prefer_floor || nearest == NearestMode::round_prefer_ceil;
  const double place = rounds ? std::round(at) : up ? std::ceil(at) : std::floor(at);
  return std::clamp<int64_t>(static_cast<int64_t>(place), 0, axis.from - 1);
}

TEST(NearestPlaces, AreTheFormulasAwayFromBorders) {
  Rng rng(9);
  for (int round = 0; round < 150; ++round) {
    const ResizedAxis axis = axis_between(drawn_extent(rng), drawn_extent(rng));
    for (const CoordinateMode mode : kModes) {
      for (const NearestMode nearest : kRoundings) {
        const auto pieces = nearest_places(mode, nearest, axis);
        ASSERT_TRUE(pieces);
        ASSERT_EQ(pieces->front().begin, 0);
        for (int64_t y = 0; y < axis.to; ++y) {
          const double at = exact_coordinate(mode, axis, y);
          if (is_near_a_border(nearest, at)) continue;
          EXPECT_EQ(place_by(*pieces, axis, y), exact_place(nearest, axis, at))
              << axis.from << " to " << axis.to << " at " << y;
        }
      }
    }
  }
}

TEST(NearestPlaces, PiecesAscendAndAreFew) {
  Rng rng(10);
  for (int round = 0; round < 100; ++round) {
    const ResizedAxis axis = axis_between(drawn_extent(rng), 1 + static_cast<int64_t>(rng.below(2000)));
    const auto pieces = nearest_places(CoordinateMode::asymmetric, NearestMode::floor, axis);
    ASSERT_TRUE(pieces);
    EXPECT_LE(pieces->size(), 32U);
    for (size_t i = 1; i < pieces->size(); ++i) EXPECT_LT((*pieces)[i - 1].begin, (*pieces)[i].begin);
    EXPECT_LT(pieces->back().begin, axis.to);
  }
}

std::vector<int64_t> places_of(CoordinateMode mode, NearestMode nearest, const ResizedAxis& axis) {
  const auto pieces = nearest_places(mode, nearest, axis);
  std::vector<int64_t> places;
  for (int64_t y = 0; pieces && y < axis.to; ++y) places.push_back(place_by(*pieces, axis, y));
  return places;
}

TEST(NearestPlaces, TellTiesApart) {
  using Places = std::vector<int64_t>;
  const ResizedAxis half = axis_between(4, 2);  // in the middle between 0 and 1, and 2 and 3
  EXPECT_EQ(places_of(CoordinateMode::half_pixel, NearestMode::round_prefer_floor, half), (Places{0, 2}));
  EXPECT_EQ(places_of(CoordinateMode::half_pixel, NearestMode::round_prefer_ceil, half), (Places{1, 3}));
  EXPECT_EQ(places_of(CoordinateMode::half_pixel, NearestMode::floor, half), (Places{0, 2}));
  EXPECT_EQ(places_of(CoordinateMode::half_pixel, NearestMode::ceil, half), (Places{1, 3}));
  EXPECT_EQ(places_of(CoordinateMode::half_pixel, NearestMode::floor_or_ceil, half), (Places{1, 3}));
  const ResizedAxis twice = axis_between(2, 4);  // -1/4, 1/4, 3/4, 5/4
  EXPECT_EQ(places_of(CoordinateMode::half_pixel, NearestMode::floor_or_ceil, twice), (Places{0, 0, 0, 1}));
  EXPECT_EQ(places_of(CoordinateMode::half_pixel, NearestMode::ceil, twice), (Places{0, 1, 1, 1}));
}

TEST(NearestPlaces, OfOnePlaceAreThatPlace) {
  for (const CoordinateMode mode : kModes)
    for (const NearestMode nearest : kRoundings)
      EXPECT_EQ(places_of(mode, nearest, axis_between(1, 5)), (std::vector<int64_t>(5, 0)));
  EXPECT_EQ(places_of(CoordinateMode::align_corners, NearestMode::floor, axis_between(9, 1)),
            std::vector<int64_t>{0});
  EXPECT_EQ(places_of(CoordinateMode::half_pixel, NearestMode::floor, axis_between(9, 1)),
            std::vector<int64_t>{4});
}

}  // namespace
}  // namespace lathe
