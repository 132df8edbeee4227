// Where the places of a resized axis lie in its operand, in whole numbers. ONNX Runtime computes them in f32,
// and which place is the nearest one depends on the last digit where two are equally near; so what is found
// here in whole numbers is compared with what f32 gives, place by place.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lathe {

// Where place y of the result lies in the operand: `half_pixel` takes the middles of places onto each other
// (`half_pixel_or_first`: a single place lies on the first), `asymmetric` the first places, `align_corners`
// the first and the last ones.
enum class CoordinateMode : uint8_t { half_pixel, half_pixel_or_first, asymmetric, align_corners };

// What the nearest place is; `floor_or_ceil`: the next where the axis becomes shorter, else the one before.
enum class NearestMode : uint8_t { round_prefer_floor, round_prefer_ceil, floor, ceil, floor_or_ceil };

// One axis: `scale` is ONNX's, places of the result for one of the operand.
struct ResizedAxis {
  int64_t from = 1;  // places of the operand, below 2^24, so that f32 counts them
  int64_t to = 1;    // places of the result, below 2^24
  float scale = 1;

  bool operator==(const ResizedAxis&) const = default;
};

// The operand's coordinate of place y of the result, as (scale * y + shift) / divisor.
struct Coordinate {
  int64_t scale = 1;
  int64_t shift = 0;
  int64_t divisor = 1;
};

// The places from `begin` on, up to the next piece.
struct CoordinatePiece {
  int64_t begin = 0;
  Coordinate at;
};

// (scale * y + shift) / divisor rounded down.
int64_t place_of(const Coordinate& at, int64_t y);

// The two forms of one axis; none where no short fraction gives the same as f32. Linear: the coordinate, of
// which the fraction is the next place's share. Nearest: the coordinate whose quotient rounded down is, held
// within 0 .. from - 1, the nearest place; a piece each where f32 errs from another side.
std::optional<Coordinate> linear_coordinate(CoordinateMode mode, const ResizedAxis& axis);
std::optional<std::vector<CoordinatePiece>> nearest_places(CoordinateMode mode, NearestMode nearest,
                                                           const ResizedAxis& axis);

}  // namespace lathe
