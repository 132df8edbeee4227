// GridSample beside its definition, a place and a tap at a time.
#include "graph/onnx/nodes/grid_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

struct Case {
  std::string mode, padding;
  bool align_corners;
};

constexpr int64_t kBatch = 2, kChannels = 3, kHeight = 4, kWidth = 5, kRows = 3, kColumns = 6;

double reflected(double x, double extent, bool align) {
  const double low = align ? 0 : -0.5, high = align ? extent - 1 : extent - 0.5;
  while (x < low || x > high) x = x < low ? 2 * low - x : 2 * high - x;
  return x;
}

double coordinate(const Case& c, double given, double extent) {
  return c.align_corners ? (given + 1) / 2 * (extent - 1) : ((given + 1) * extent - 1) / 2;
}

double padded(const Case& c, double x, double extent) {
  if (c.padding == "border") return std::clamp(x, 0.0, extent - 1);
  return c.padding == "reflection" ? reflected(x, extent, c.align_corners) : x;
}

double cubic(double t) {
  const double a = -0.75, x = std::abs(t);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

double pixel(const Case& c, const Values& image, int64_t n, int64_t channel, double y, double x) {
  y = padded(c, y, kHeight);
  x = padded(c, x, kWidth);
  if (y < 0 || y > kHeight - 1 || x < 0 || x > kWidth - 1) return 0;
  const auto row = static_cast<int64_t>(y), column = static_cast<int64_t>(x);
  return image.data[static_cast<size_t>(((n * kChannels + channel) * kHeight + row) * kWidth + column)];
}

double sample(const Case& c, const Values& image, int64_t n, int64_t channel, double gx, double gy) {
  double x = coordinate(c, gx, kWidth), y = coordinate(c, gy, kHeight);
  if (c.mode == "nearest") return pixel(c, image, n, channel, std::nearbyint(y), std::nearbyint(x));
  if (c.mode == "linear") {
    x = padded(c, x, kWidth);
    y = padded(c, y, kHeight);
  }
  double sum = 0;
  const double top = std::floor(y), left = std::floor(x);
  for (int i = -1; i <= 2; ++i)
    for (int j = -1; j <= 2; ++j) {
      const double row = top + i, column = left + j;
      const auto weight = [&](double t) {
        return c.mode == "linear" ? std::max(0.0, 1 - std::abs(t)) : cubic(t);
      };
      const double share = weight(y - row) * weight(x - column);
      if (share != 0) sum += share * pixel(c, image, n, channel, row, column);
    }
  return sum;
}

OnnxModel grid_model(const Case& c) {
  OnnxModel model;
  model.operator_set(20).input("x", {kBatch, kChannels, kHeight, kWidth});
  model.input("g", {kBatch, kRows, kColumns, 2}).node("n", "GridSample", {"x", "g"}, "y").output("y");
  model.attribute("mode", c.mode.c_str()).attribute("padding_mode", c.padding.c_str());
  return model.attribute("align_corners", c.align_corners ? 1 : 0);
}

TEST(GridSample, IsWhatItsDefinitionSays) {
  Rng rng(11);
  Values image{{kBatch, kChannels, kHeight, kWidth}, {}}, grid{{kBatch, kRows, kColumns, 2}, {}};
  for (int64_t i = 0; i < elements_of(image.shape); ++i) image.data.push_back(rng.uniform() * 2 - 1);
  for (int64_t i = 0; i < elements_of(grid.shape); ++i)
    grid.data.push_back(static_cast<double>(static_cast<float>(rng.uniform() * 3.4 - 1.7)));
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* padding : {"zeros", "border", "reflection"})
      for (const bool align : {false, true}) {
        const Case c{mode, padding, align};
        std::vector<double> expected;
        for (int64_t n = 0; n < kBatch; ++n)
          for (int64_t channel = 0; channel < kChannels; ++channel)
            for (int64_t place = 0; place < kRows * kColumns; ++place) {
              const double* at = &grid.data[static_cast<size_t>((n * kRows * kColumns + place) * 2)];
              expected.push_back(sample(c, image, n, channel, at[0], at[1]));
            }
        EXPECT_THAT(run_network(grid_model(c), {image, grid}).data, Pointwise(DoubleNear(2e-5), expected))
            << mode << " " << padding << " " << align;
      }
}

TEST(GridSample, RefusesWhatDoesNotFit) {
  EXPECT_EQ(import_error(grid_model({"sharp", "zeros", false})),
            "node 'n' (GridSample): attribute 'mode' is 'sharp', and must be linear, nearest or cubic");
  EXPECT_EQ(
      import_error(grid_model({"linear", "wrap", false})),
      "node 'n' (GridSample): attribute 'padding_mode' is 'wrap', and must be zeros, border or reflection");
  OnnxModel model;
  model.input("x", {2, 3, 4, 5})
      .input("g", {1, 6, 7, 2})
      .node("n", "GridSample", {"x", "g"}, "y")
      .output("y");
  EXPECT_EQ(import_error(model),
            "node 'n' (GridSample): its image [2,3,4,5] and grid [1,6,7,2] do not fit together");
  OnnxModel wide;
  wide.input("x", {2, 3, 4, 5}).input("g", {2, 6, 7, 2}, onnx::TensorProto_DataType_DOUBLE);
  wide.node("n", "GridSample", {"x", "g"}, "y").output("y");
  EXPECT_EQ(import_error(wide), "node 'n' (GridSample): input 1 is of type f64, and Lathe supports f32 here");
}

}  // namespace
}  // namespace lathe
