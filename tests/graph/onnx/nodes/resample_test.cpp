// Resize by weights beside ONNX's definition, which looks for the nearest places of a padded row.
#include "graph/onnx/nodes/resample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/rng.h"
#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;

struct Case {
  std::string mode, coordinates;
  bool antialias = false, exclude_outside = false;
  double a = -0.75;
  int64_t from = 1, to = 1;
};

std::string name_of(const Case& c) {
  return c.mode + " " + c.coordinates + (c.antialias ? " antialias" : "") +
         (c.exclude_outside ? " inside" : "") + " " + std::to_string(c.from) + " to " + std::to_string(c.to);
}

double coordinate(const Case& c, int64_t y) {
  const auto from = static_cast<double>(c.from), to = static_cast<double>(c.to), at = static_cast<double>(y);
  if (c.coordinates == "asymmetric") return at * from / to;
  if (c.coordinates == "align_corners") return c.to == 1 ? 0 : at * (from - 1) / (to - 1);
  return (at + 0.5) * from / to - 0.5;
}

double cubic(double a, double x) {
  x = std::abs(x);
  if (x <= 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

// As ONNX's reference computes a place of one row.
double sample(const Case& c, const std::vector<double>& row, int64_t y) {
  const double x = coordinate(c, y);
  const double scale =
      c.antialias ? std::min(1.0, static_cast<double>(c.to) / static_cast<double>(c.from)) : 1;
  const int64_t half = -static_cast<int64_t>(std::floor(-(c.mode == "linear" ? 1 : 2) / scale));
  std::vector<int64_t> places(static_cast<size_t>(c.from + 4 * half + 2));
  std::iota(places.begin(), places.end(), -2 * half);
  std::ranges::stable_sort(
      places, {}, [&](int64_t place) { return std::pair(std::abs(x - static_cast<double>(place)), place); });
  double sum = 0, weights = 0;
  for (int64_t i = 0; i < 2 * half; ++i) {
    const int64_t place = places[static_cast<size_t>(i)];
    const double distance = scale * (x - static_cast<double>(place));
    if (c.exclude_outside && (place < 0 || place >= c.from)) continue;
    const double weight = c.mode == "linear" ? std::max(0.0, 1 - std::abs(distance)) : cubic(c.a, distance);
    weights += weight;
    sum += weight * row[static_cast<size_t>(std::clamp<int64_t>(place, 0, c.from - 1))];
  }
  return sum / weights;
}

OnnxModel row_model(const Case& c) {
  OnnxModel model;
  model.input("x", {2, c.from, 3}).integers("sizes", {2, c.to, 3});
  model.node("n", "Resize", {"x", "", "", "sizes"}, "y").output("y");
  model.attribute("mode", c.mode.c_str()).attribute("coordinate_transformation_mode", c.coordinates.c_str());
  model.attribute("antialias", c.antialias ? 1 : 0).attribute("exclude_outside", c.exclude_outside ? 1 : 0);
  return model.attribute("cubic_coeff_a", c.a);
}

void check(const Case& c) {
  SCOPED_TRACE(name_of(c));
  Rng rng(5);
  Values x{{2, c.from, 3}, {}};
  for (int64_t i = 0; i < elements_of(x.shape); ++i) x.data.push_back(rng.uniform() * 2 - 1);
  std::vector<double> expected;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t y = 0; y < c.to; ++y)
      for (int64_t k = 0; k < 3; ++k) {
        std::vector<double> row;
        for (int64_t i = 0; i < c.from; ++i)
          row.push_back(x.data[static_cast<size_t>((n * c.from + i) * 3 + k)]);
        expected.push_back(sample(c, row, y));
      }
  EXPECT_THAT(run_network(row_model(c), {x}).data, Pointwise(DoubleNear(2e-6), expected));
}

TEST(Resample, IsWhatItsDefinitionSays) {
  for (const char* coordinates : {"half_pixel", "half_pixel_symmetric", "asymmetric", "align_corners"}) {
    for (const auto& [from, to] : std::vector<std::pair<int64_t, int64_t>>{{4, 8}, {7, 5}, {9, 2}, {1, 3}}) {
      for (const bool exclude : {false, true}) {
        check({"cubic", coordinates, false, exclude, -0.75, from, to});
        check({"cubic", coordinates, true, exclude, -0.5, from, to});
        check({"linear", coordinates, true, exclude, -0.75, from, to});
      }
      check({"linear", coordinates, false, true, -0.75, from, to});
    }
  }
}

OnnxModel region_model(const char* mode, const std::vector<float>& region, int64_t to) {
  OnnxModel model;
  model.input("x", {1, 5}).initializer("roi", {static_cast<int64_t>(region.size())}, region);
  model.integers("sizes", {1, to}).node("n", "Resize", {"x", "roi", "", "sizes"}, "y").output("y");
  model.attribute("mode", mode).attribute("coordinate_transformation_mode", "tf_crop_and_resize");
  return model.attribute("extrapolation_value", 10.0);
}

// Of 0, 1 .. 4 from 0.25 to 0.75 are the places 1 to 3; what lies outside has the value that is given.
TEST(Resample, TakesARegion) {
  const Values x{{1, 5}, {0, 1, 2, 3, 4}};
  const auto run = [&](const char* mode, const std::vector<float>& region, int64_t to) {
    return run_network(region_model(mode, region, to), {x}).data;
  };
  EXPECT_THAT(run("linear", {0, 0.25F, 1, 0.75F}, 5), ElementsAre(1, 1.5, 2, 2.5, 3));
  EXPECT_THAT(run("linear", {0, 0.25F, 1, 0.75F}, 1), ElementsAre(2));
  EXPECT_THAT(run("linear", {0, -0.25F, 1, 1.25F}, 4), ElementsAre(10, 1, 3, 10));
  EXPECT_THAT(run("nearest", {0, 0.25F, 1, 1.25F}, 3), ElementsAre(1, 3, 10));
  EXPECT_THAT(run("cubic", {0, 0, 1, 1}, 5), ElementsAre(0, 1, 2, 3, 4));
}

// Axes are named in any order, and the region's numbers with them.
TEST(Resample, TakesARegionOfSomeAxes) {
  OnnxModel model;
  model.input("x", {1, 3, 5}).initializer("roi", {4}, {0.25F, 0.5F, 0.75F, 1});
  model.integers("sizes", {3, 2}).node("n", "Resize", {"x", "roi", "", "sizes"}, "y").output("y");
  model.attribute("mode", "linear").attribute("coordinate_transformation_mode", "tf_crop_and_resize");
  model.attribute("axes", {2, 1});
  Values x{{1, 3, 5}, std::vector<double>(15)};
  std::iota(x.data.begin(), x.data.end(), 0);
  EXPECT_THAT(run_network(model, {x}).data, ElementsAre(6, 7, 8, 11, 12, 13));
}

// 2.4 places: the second one lies at 3 / 1.4, where a cubic of a line through its places is that line.
TEST(Resample, AlignedCornersGoByTheScaledLength) {
  OnnxModel model;
  model.operator_set(19).input("x", {8}).initializer("s", {1}, {0.3F});
  model.node("n", "Resize", {"x", "", "s"}, "y").attribute("mode", "cubic");
  model.attribute("coordinate_transformation_mode", "align_corners").output("y");
  const Values y = run_network(model, {numbered({8})});
  EXPECT_EQ(y.shape, Shape{2});
  EXPECT_NEAR(y.data[1], 1 + 7 / 1.4, 1e-5);
}

// What lies between two integers is cut off.
TEST(Resample, IntegersOfEightBitsAreInterpolated) {
  OnnxModel model;
  model.operator_set(13).input("x", {3}, onnx::TensorProto_DataType_UINT8).integers("s", {5});
  model.node("n", "Resize", {"x", "", "", "s"}, "y").attribute("mode", "linear");
  model.attribute("coordinate_transformation_mode", "align_corners").output("y");
  const Values y = run_network(model, {{{3}, {0, 255, 4}, DType::u8}});
  EXPECT_EQ(y.dtype, DType::u8);
  EXPECT_EQ(y.data, (std::vector<double>{0, 127, 255, 129, 4}));
}

TEST(Resample, NamesWhatItCannotTake) {
  EXPECT_EQ(import_error(region_model("linear", {0, 1}, 3)),
            "node 'n' (Resize): its region has 2 numbers for 2 axes");
  OnnxModel none = region_model("linear", {0, 0, 1, 1}, 3);
  none.proto.mutable_graph()->mutable_node(0)->set_input(1, "");
  EXPECT_EQ(import_error(none), "node 'n' (Resize): it has no region of the operand to take");
  for (const float end : {std::numeric_limits<float>::quiet_NaN(), 1e30F}) {
    EXPECT_EQ(import_error(region_model("nearest", {0, 0, 1, end}, 3)),
              "node 'n' (Resize): its region has an end that Lathe does not support");
  }
  EXPECT_EQ(import_error(row_model({"cubic", "half_pixel", true, false, -0.75, int64_t{1} << 23, 1})),
            "node 'n' (Resize): axis 1 of 8388608 becomes 1 places of too many each");
  OnnxModel integers;
  integers.input("x", {1, 5}, onnx::TensorProto_DataType_INT32).integers("sizes", {1, 8});
  integers.node("n", "Resize", {"x", "", "", "sizes"}, "y").output("y").attribute("mode", "cubic");
  EXPECT_EQ(import_error(integers), "node 'n' (Resize): input 0 is of type i32, and Lathe supports f32 here");
}

}  // namespace
}  // namespace lathe
