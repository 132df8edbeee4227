#include "graph/operators/resize_places.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lathe {
namespace {

// The operand's places for one of the result.
struct Ratio {
  int64_t from = 1;
  int64_t to = 1;
};

// 1 / scale by fractions that come ever closer: the ratio of the extents first, where it is the scale.
std::vector<Ratio> ratios_of(CoordinateMode mode, const ResizedAxis& axis) {
  // Keeps products with a place within 64 bits; those of align_corners have the extent as a factor too.
  const int64_t most = mode == CoordinateMode::align_corners ? (int64_t{1} << 38) / axis.from : 1 << 30;
  const auto largest = static_cast<double>(most);
  std::vector<Ratio> ratios;
  const auto extents = static_cast<float>(axis.to) / static_cast<float>(axis.from);
  if (std::abs(extents - axis.scale) <= 1e-6F * axis.scale) ratios.push_back({axis.from, axis.to});
  const double wanted = 1 / static_cast<double>(axis.scale);
  double rest = wanted;
  Ratio before{0, 1};
  Ratio ratio{1, 0};
  for (int digits = 0; digits < 32; ++digits) {  // of the continued fraction
    const double digit = std::floor(rest);
    const double from = digit * static_cast<double>(ratio.from) + static_cast<double>(before.from);
    const double to = digit * static_cast<double>(ratio.to) + static_cast<double>(before.to);
    if (from >= largest || to >= largest) break;
    before = ratio;
    ratio = {static_cast<int64_t>(from), static_cast<int64_t>(to)};
    if (ratio.from > 0) ratios.push_back(ratio);
    if (rest - digit < 1e-9) break;
    rest = 1 / (rest - digit);
  }
  return ratios;
}

// By the least numbers, so that a step of the numerator is the least that a coordinate can move.
Coordinate reduced(const Coordinate& at) {
  const int64_t common = std::gcd(std::gcd(at.scale, at.shift), at.divisor);
  return {at.scale / common, at.shift / common, at.divisor / common};
}

Coordinate coordinate_of(CoordinateMode mode, const ResizedAxis& axis, const Ratio& ratio) {
  switch (mode) {
    case CoordinateMode::half_pixel_or_first:
      if (axis.to == 1) return {0, 0, 1};
      [[fallthrough]];
    // (y + 1/2) * from / to - 1/2
    case CoordinateMode::half_pixel: return {2 * ratio.from, ratio.from - ratio.to, 2 * ratio.to};
    case CoordinateMode::asymmetric: return {ratio.from, 0, ratio.to};
    case CoordinateMode::align_corners:
      if (axis.to == 1) return {0, 0, 1};
      // y * (from - 1) / (from * scale - 1)
      return reduced({(axis.from - 1) * ratio.from, 0, axis.from * ratio.to - ratio.from});
  }
  return {};
}

// The extent times the scale: whole where it is so but for f32's rounding.
float scaled_extent(const ResizedAxis& axis) {
  const auto to = static_cast<float>(axis.to), scaled = static_cast<float>(axis.from) * axis.scale;
  return std::abs(scaled - to) <= 1e-6F * to ? to : scaled;
}

// The same in f32, operation by operation as ONNX Runtime computes it.
float f32_coordinate(CoordinateMode mode, const ResizedAxis& axis, int64_t place) {
  const auto y = static_cast<float>(place);
  switch (mode) {
    case CoordinateMode::half_pixel_or_first:
      if (axis.to == 1) return 0;
      [[fallthrough]];
    case CoordinateMode::half_pixel: return (y + 0.5F) / axis.scale - 0.5F;
    case CoordinateMode::asymmetric: return y / axis.scale;
    case CoordinateMode::align_corners:
      if (axis.to == 1) return 0;
      return y * static_cast<float>(axis.from - 1) / (scaled_extent(axis) - 1);
  }
  return 0;
}

NearestMode on_axis(NearestMode nearest, const ResizedAxis& axis) {
  if (nearest != NearestMode::floor_or_ceil) return nearest;
  return axis.scale < 1 ? NearestMode::ceil : NearestMode::floor;
}

float rounded(NearestMode nearest, float at) {
  constexpr float kTie = 1e-6F;  // what ONNX Runtime takes for the middle between two places
  const float below = std::floor(at);
  const bool is_tie = std::abs(at - below - 0.5F) <= kTie;
  switch (nearest) {
    case NearestMode::round_prefer_floor: return is_tie ? below : std::round(at);
    case NearestMode::round_prefer_ceil: return is_tie ? below + 1 : std::round(at);
    case NearestMode::ceil: return std::ceil(at);
    case NearestMode::floor:
    case NearestMode::floor_or_ceil: break;
  }
  return below;
}

// What the nearest place is the quotient of.
Coordinate rounding(NearestMode nearest, const Coordinate& at) {
  const Coordinate exact = reduced(at);
  const Coordinate half_more = reduced({2 * at.scale, 2 * at.shift + at.divisor, 2 * at.divisor});
  switch (nearest) {
    case NearestMode::ceil: return {exact.scale, exact.shift + exact.divisor - 1, exact.divisor};
    // ceil(x - 1/2) and floor(x + 1/2)
    case NearestMode::round_prefer_floor: return {half_more.scale, half_more.shift - 1, half_more.divisor};
    case NearestMode::round_prefer_ceil: return half_more;
    case NearestMode::floor:
    case NearestMode::floor_or_ceil: break;
  }
  return exact;
}

// One piece after another, each as long as it gives the expected places. A shift by one in the numerator
// moves just the coordinates that lie on a border between two places.
std::optional<std::vector<CoordinatePiece>> pieces(const Coordinate& at, int64_t from,
                                                   const std::vector<int64_t>& expected) {
  constexpr size_t kMostPieces = 32;  // f32 errs alike between two powers of 2
  const auto to = static_cast<int64_t>(expected.size());
  std::vector<CoordinatePiece> result;
  for (int64_t begin = 0; begin < to;) {
    CoordinatePiece longest;
    int64_t longest_end = begin;
    for (const int64_t moved : {0, -1, 1}) {
      const CoordinatePiece piece{begin, {at.scale, at.shift + moved, at.divisor}};
      int64_t end = begin;
      while (end < to &&
             std::clamp<int64_t>(place_of(piece.at, end), 0, from - 1) == expected[static_cast<size_t>(end)])
        ++end;
      if (end <= longest_end) continue;
      longest = piece;
      longest_end = end;
    }
    if (longest_end == begin || result.size() == kMostPieces) return std::nullopt;
    result.push_back(longest);
    begin = longest_end;
  }
  return result;
}

}  // namespace

int64_t place_of(const Coordinate& at, int64_t y) {
  const int64_t a = at.scale * y + at.shift;
  return a >= 0 ? a / at.divisor : -((-a + at.divisor - 1) / at.divisor);
}

std::optional<Coordinate> linear_coordinate(CoordinateMode mode, const ResizedAxis& axis) {
  constexpr double kF32Step = 0x1p-23;
  for (const Ratio& ratio : ratios_of(mode, axis)) {
    const double error =
        static_cast<double>(ratio.from) * static_cast<double>(axis.scale) / static_cast<double>(ratio.to) - 1;
    if (std::abs(error) <= kF32Step) return coordinate_of(mode, axis, ratio);
  }
  return std::nullopt;
}

std::optional<std::vector<CoordinatePiece>> nearest_places(CoordinateMode mode, NearestMode nearest,
                                                           const ResizedAxis& axis) {
  const NearestMode rounds = on_axis(nearest, axis);
  const auto last = static_cast<float>(axis.from - 1);
  std::vector<int64_t> expected;
  expected.reserve(static_cast<size_t>(axis.to));
  for (int64_t y = 0; y < axis.to; ++y)
    expected.push_back(
        static_cast<int64_t>(std::clamp(rounded(rounds, f32_coordinate(mode, axis, y)), 0.0F, last)));
  std::optional<std::vector<CoordinatePiece>> best;
  for (const Ratio& ratio : ratios_of(mode, axis)) {
    auto found = pieces(rounding(rounds, coordinate_of(mode, axis, ratio)), axis.from, expected);
    if (found && (!best || found->size() < best->size())) best = std::move(found);
    if (best && best->size() == 1) break;
  }
  return best;
}

}  // namespace lathe
