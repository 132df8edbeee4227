// Samples of images beside their definition, point by point.
#include "graph/onnx/nodes/sampled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

constexpr int kI64 = onnx::TensorProto_DataType_INT64;

auto is_near(const Numbers& numbers) { return ::testing::Pointwise(::testing::DoubleNear(1e-4), numbers); }

Values noise(const Shape& shape, uint64_t seed) {
  Rng rng(seed);
  Values values{shape, {}};
  for (int64_t i = 0; i < elements_of(shape); ++i) values.data.push_back(rng.uniform() * 2 - 1);
  return values;
}

OnnxModel region_model(const Shape& image, int64_t regions) {
  OnnxModel model;
  model.operator_set(16).input("x", image).input("r", {regions, 4}).input("i", {regions}, kI64);
  return std::move(model.node("n", "RoiAlign", {"x", "r", "i"}, "y").output("y"));
}

// Of the row 1 2 3 4: a region of places 0.5 to 3.5, less half a place, in three bins of one sample.
TEST(OnnxRoiAlign, SamplesEachBin) {
  OnnxModel model = region_model({2, 1, 1, 4}, 2).attribute("output_width", 3).attribute("sampling_ratio", 1);
  const Values image{{2, 1, 1, 4}, {1, 2, 3, 4, 10, 20, 30, 40}};
  const Values regions{{2, 4}, {0.5, 0, 3.5, 1, 0, 0, 6, 1}}, images{{2}, {0, 1}, DType::i64};
  // The second one's samples lie at 0.5, 2.5 and, further beside the image than a place, 4.5.
  EXPECT_THAT(run_network(model, {image, regions, images}).data, is_near({1.5, 2.5, 3.5, 15, 35, 0}));
}

// Before operator set 16 and where it is asked for, no half is taken off, and a region has a place at least.
TEST(OnnxRoiAlign, ItsCoordinatesMayBeginAtTheMiddlesOfPlaces) {
  OnnxModel model =
      region_model({1, 1, 1, 4}, 1).attribute("sampling_ratio", 2).attribute("spatial_scale", 0.5);
  model.attribute("coordinate_transformation_mode", "output_half_pixel");
  const Values image{{1, 1, 1, 4}, {1, 2, 3, 4}}, region{{1, 4}, {2, 0, 2.5, 0}}, first{{1}, {0}, DType::i64};
  // Samples at 1.25 and 1.75.
  EXPECT_THAT(run_network(model, {image, region, first}).data, is_near({2.5}));
  // The largest of all weighted places: 3 by 0.75.
  EXPECT_THAT(run_network(model.attribute("mode", "max"), {image, region, first}).data, is_near({2.25}));
}

TEST(OnnxRoiAlign, NamesWhatItCannotTake) {
  EXPECT_EQ(
      import_error(region_model({1, 1, 1, 4}, 1)),
      "node 'n' (RoiAlign): attribute 'sampling_ratio' is 0, by which the number of samples is known only "
      "when the model runs, and Lathe supports one above 0");
  EXPECT_EQ(
      import_error(region_model({1, 1, 4}, 1).attribute("sampling_ratio", 1)),
      "node 'n' (RoiAlign): its data [1,1,4], regions [1,4] and images [1] are not [N, C, H, W], [R, 4] "
      "and [R]");
  EXPECT_EQ(
      import_error(region_model({1, 1, 4, 4}, 1).attribute("sampling_ratio", 1).attribute("mode", "min")),
      "node 'n' (RoiAlign): attribute 'mode' is 'min', and must be avg or max");
}

// Two groups of channels, two of offsets, a stride, pads and a mask.
struct DeformedCase {
  Shape image{2, 4, 5, 6}, weight{6, 2, 3, 2}, offsets{2, 24, 3, 5}, mask{2, 12, 3, 5};
};

double sample(const Values& x, int64_t n, int64_t c, double row, double column) {
  double sum = 0;
  for (int64_t y = 0; y < x.shape[2]; ++y)
    for (int64_t z = 0; z < x.shape[3]; ++z) {
      const double weight = std::max(0.0, 1 - std::abs(row - static_cast<double>(y))) *
                            std::max(0.0, 1 - std::abs(column - static_cast<double>(z)));
      sum += weight * x.data[static_cast<size_t>(((n * x.shape[1] + c) * x.shape[2] + y) * x.shape[3] + z)];
    }
  return sum;
}

double element(const Values& x, const Shape& index) {
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d) offset = offset * x.shape[d] + index[d];
  return x.data[static_cast<size_t>(offset)];
}

Numbers deformed(const Values& x, const Values& w, const Values& offsets, const Values& mask) {
  Numbers result;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t m = 0; m < 6; ++m)
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t j = 0; j < 5; ++j) {
          double sum = static_cast<double>(m);  // the bias
          for (int64_t c = 0; c < 2; ++c)
            for (int64_t tap = 0; tap < 6; ++tap) {
              const int64_t channel = m / 3 * 2 + c, group = channel / 2, first = (group * 6 + tap) * 2;
              const double row =
                  static_cast<double>(2 * i - 1 + tap / 2) + element(offsets, {n, first, i, j});
              const double column = static_cast<double>(j + tap % 2) + element(offsets, {n, first + 1, i, j});
              sum += element(w, {m, c, tap / 2, tap % 2}) * element(mask, {n, group * 6 + tap, i, j}) *
                     sample(x, n, channel, row, column);
            }
          result.push_back(sum);
        }
  return result;
}

OnnxModel deformed_model(const DeformedCase& c) {
  OnnxModel model;
  model.operator_set(19).input("x", c.image).input("w", c.weight).input("o", c.offsets).input("m", c.mask);
  model.initializer("b", {6}, {0, 1, 2, 3, 4, 5}).node("n", "DeformConv", {"x", "w", "o", "b", "m"}, "y");
  model.attribute("group", 2).attribute("offset_group", 2).attribute("strides", {2, 1});
  return std::move(model.attribute("pads", {1, 0, 1, 0}).output("y"));
}

TEST(OnnxDeformConv, MovesEachTapByItsOffset) {
  const DeformedCase c;
  Values offsets = noise(c.offsets, 3);
  for (double& offset : offsets.data) offset *= 3;
  const Values x = noise(c.image, 1), w = noise(c.weight, 2), mask = noise(c.mask, 4);
  const Values y = run_network(deformed_model(c), {x, w, offsets, mask});
  EXPECT_EQ(y.shape, (Shape{2, 6, 3, 5}));
  EXPECT_THAT(y.data, is_near(deformed(x, w, offsets, mask)));
}

TEST(OnnxDeformConv, NamesWhatItCannotTake) {
  DeformedCase few;
  few.offsets[1] = 12;
  EXPECT_EQ(import_error(deformed_model(few)),
            "node 'n' (DeformConv): its data [2,4,5,6], weights [6,2,3,2] and offsets [2,12,3,5] do not fit "
            "together");
}

}  // namespace
}  // namespace lathe
