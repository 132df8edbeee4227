// Resize and Upsample: the reference against ONNX's formulas, and the network against the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "graph/operators/resize_places.h"

namespace lathe {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

// Resizes x [1, from] to `to` places.
OnnxModel row_model(int64_t from, int64_t to, const std::string& mode, const std::string& coordinates,
                    const std::string& nearest = "round_prefer_floor") {
  OnnxModel model;
  model.input("x", {1, from}).integers("sizes", {1, to}).node("n", "Resize", {"x", "", "", "sizes"}, "y");
  model.attribute("mode", mode.c_str()).attribute("coordinate_transformation_mode", coordinates.c_str());
  return std::move(model.attribute("nearest_mode", nearest.c_str()).output("y"));
}

// ONNX's coordinate in the operand of place y.
double coordinate(const std::string& mode, int64_t from, int64_t to, int64_t y) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const auto at = static_cast<double>(y);
  if (mode == "asymmetric") return at * scale;
  if (mode == "align_corners")
    return to == 1 ? 0 : at * static_cast<double>(from - 1) / static_cast<double>(to - 1);
  return mode == "pytorch_half_pixel" && to == 1 ? 0 : (at + 0.5) * scale - 0.5;
}

// The element of 1, 2 .. from at a whole place, the first and the last beyond them.
double element(double place, int64_t from) {
  return 1 + std::clamp<double>(place, 0, static_cast<double>(from - 1));
}

double rounded(const std::string& mode, double at) {
  // Ties are exact where the ratio of the extents is; elsewhere none is near.
  constexpr double kTiny = 1e-9;
  if (mode == "floor") return std::floor(at + kTiny);
  if (mode == "ceil") return std::ceil(at - kTiny);
  return mode == "round_prefer_floor" ? std::ceil(at - 0.5 - kTiny) : std::floor(at + 0.5 + kTiny);
}

constexpr const char* kCoordinates[] = {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"};
constexpr std::pair<int64_t, int64_t> kExtents[] = {{4, 8}, {5, 7}, {8, 4}, {9, 3},
                                                    {7, 5}, {6, 1}, {5, 1}, {1, 4}};

TEST(Resize, TakesTheNearestPlace) {
  for (const std::string coordinates : kCoordinates) {
    for (const std::string nearest : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
      for (const auto& [from, to] : kExtents) {
        SCOPED_TRACE(::testing::Message() << coordinates << " " << nearest << " " << from << " to " << to);
        std::vector<double> expected;
        for (int64_t y = 0; y < to; ++y)
          expected.push_back(element(rounded(nearest, coordinate(coordinates, from, to, y)), from));
        const OnnxModel model = row_model(from, to, "nearest", coordinates, nearest);
        EXPECT_EQ(run_network(model, {numbered({1, from})}).data, expected);
      }
    }
  }
}

TEST(Resize, BlendsTheTwoPlacesAround) {
  for (const std::string coordinates : kCoordinates) {
    for (const auto& [from, to] : kExtents) {
      SCOPED_TRACE(::testing::Message() << coordinates << " " << from << " to " << to);
      std::vector<double> expected;
      for (int64_t y = 0; y < to; ++y)
        expected.push_back(element(coordinate(coordinates, from, to, y), from));
      const OnnxModel model = row_model(from, to, "linear", coordinates);
      EXPECT_THAT(run_network(model, {numbered({1, from})}).data, Pointwise(DoubleNear(1e-9), expected));
    }
  }
}

TEST(Resize, BlendsAlongEveryAxis) {
  OnnxModel model;
  model.input("x", {1, 1, 2, 2}).initializer("scales", {4}, {1, 1, 2, 1.5F});
  model.node("n", "Resize", {"x", "", "scales"}, "y").attribute("mode", "linear");
  model.attribute("coordinate_transformation_mode", "align_corners").output("y");
  EXPECT_THAT(run_network(model, {{{1, 1, 2, 2}, {0, 4, 6, 10}}}).data,
              Pointwise(DoubleNear(1e-12), std::vector<double>{0, 2, 4, 2, 4, 6, 4, 6, 8, 6, 8, 10}));
}

// By 0.6 of 4 places: lengths of 2.4 and 4, so that the second place lies at 3 / 1.4.
TEST(Resize, AlignedCornersGoByTheScaledLength) {
  const auto resized = [](const char* mode, const Shape& shape, std::vector<float> scales) {
    OnnxModel model;
    const auto axes = static_cast<int64_t>(scales.size());
    model.input("x", shape).initializer("scales", {axes}, std::move(scales));
    model.node("n", "Resize", {"x", "", "scales"}, "y").attribute("mode", mode);
    model.attribute("coordinate_transformation_mode", "align_corners").output("y");
    return run_network(model, {numbered(shape)}).data;
  };
  const std::vector<double> expected{1, 1 + 3 / 1.4};
  EXPECT_THAT(resized("linear", {1, 4}, {1, 0.6F}), Pointwise(DoubleNear(1e-6), expected));
  EXPECT_EQ(resized("nearest", {1, 4}, {1, 0.6F}), (std::vector<double>{1, 3}));
  EXPECT_EQ(resized("nearest", {1, 4}, {1, 0.5F}), (std::vector<double>{1, 4}));
}

// Of 13 places 1.5 times as many are 19: PyTorch lays the last onto the last, ONNX's tests the place 19.5.
TEST(Resize, AlignedCornersOfPyTorchAreThoseOfWholeLengths) {
  for (const char* mode : {"linear", "cubic"}) {
    OnnxModel model;
    model.input("x", {1, 13}).initializer("scales", {2}, {1, 1.5F});
    model.node("n", "Resize", {"x", "", "scales"}, "y").attribute("mode", mode);
    model.attribute("coordinate_transformation_mode", "align_corners").output("y");
    EXPECT_LT(run_network(model, {numbered({1, 13})}).data.back(), 12.9);
    model.proto.set_producer_name("pytorch");
    const std::vector<double> values = run_network(model, {numbered({1, 13})}).data;
    ASSERT_EQ(values.size(), 19U);
    EXPECT_NEAR(values.back(), 13, 1e-6);
    EXPECT_NEAR(values[9], 7, 1e-6);
  }
}

TEST(Resize, CopiesWhereTheExtentsStay) {
  EXPECT_EQ(run_network(row_model(4, 4, "linear", "half_pixel"), {numbered({1, 4})}).data,
            numbered({1, 4}).data);
}

TEST(Resize, OldFormsTakeFirstPlacesOntoEachOther) {
  OnnxModel resize;
  resize.operator_set(10).input("x", {1, 2}).initializer("scales", {2}, {1, 2});
  resize.node("n", "Resize", {"x", "scales"}, "y").output("y").attribute("mode", "linear");
  EXPECT_EQ(run_network(resize, {numbered({1, 2})}).data, (std::vector<double>{1, 1.5, 2, 2}));
  OnnxModel upsample;
  upsample.operator_set(9).input("x", {1, 2}).initializer("scales", {2}, {2, 2});
  upsample.node("n", "Upsample", {"x", "scales"}, "y").output("y");
  EXPECT_EQ(run_network(upsample, {numbered({1, 2})}).data, (std::vector<double>{1, 1, 2, 2, 1, 1, 2, 2}));
}

// Resizes x [1, from] by a scale.
OnnxModel scaled_model(int64_t operator_set, int64_t from, float scale, const std::string& mode = "nearest") {
  OnnxModel model;
  model.operator_set(operator_set).input("x", {1, from}).initializer("scales", {2}, {1, scale});
  const bool first_form = operator_set < 11;
  model.node(
      "n", "Resize",
      first_form ? std::vector<std::string>{"x", "scales"} : std::vector<std::string>{"x", "", "scales"},
      "y");
  return std::move(model.attribute("mode", mode.c_str()).output("y"));
}

// What 0, 1 .. from - 1 become.
std::vector<double> places(const OnnxModel& model, int64_t from) {
  Values x{{1, from}, {}};
  for (int64_t i = 0; i < from; ++i) x.data.push_back(static_cast<double>(i));
  return run_network(model, {x}).data;
}

// The expected values of the tests below are ONNX Runtime 1.31.1's.
TEST(Resize, OldFormTakesTheNextPlaceWhereTheAxisBecomesShorter) {
  EXPECT_EQ(places(scaled_model(10, 3, 2.0F / 3), 3), (std::vector<double>{0, 2}));
  EXPECT_EQ(places(scaled_model(10, 5, 0.6F), 5), (std::vector<double>{0, 2, 4}));
  EXPECT_EQ(places(scaled_model(10, 7, 0.5F), 7), (std::vector<double>{0, 2, 4}));
  EXPECT_EQ(places(scaled_model(10, 2, 2.5F), 2), (std::vector<double>{0, 0, 0, 1, 1}));
  EXPECT_THAT(places(scaled_model(10, 3, 2.0F / 3, "linear"), 3),
              Pointwise(DoubleNear(1e-6), std::vector<double>{0, 1.5}));
}

TEST(Resize, CountsWholePlacesOnly) {
  EXPECT_EQ(places(scaled_model(10, 3, 0.66666F), 3), (std::vector<double>{0}));
  // By the scale that is given, not by the ratio of the extents, which is 6 to 5.
  EXPECT_EQ(places(scaled_model(13, 5, 1.25F), 5), (std::vector<double>{0, 1, 1, 2, 3, 4}));
  EXPECT_THAT(places(scaled_model(13, 5, 1.25F, "linear"), 5),
              Pointwise(DoubleNear(1e-6), std::vector<double>{0, 0.7, 1.5, 2.3, 3.1, 3.9}));
  OnnxModel ceil = scaled_model(13, 5, 0.7F);
  ceil.attribute("coordinate_transformation_mode", "asymmetric").attribute("nearest_mode", "ceil");
  EXPECT_EQ(places(ceil, 5), (std::vector<double>{0, 2, 3}));
}

TEST(Resize, CopiesWhereAllExtentsStay) {
  EXPECT_EQ(places(scaled_model(10, 3, 1.25F), 3), (std::vector<double>{0, 1, 2}));
}

// 14 / 2 is 7, but 1 / (2 / 14) is less in f32, and 9 / (12 / 20) less than 15.
TEST(Resize, TakesThePlacesThatF32Gives) {
  EXPECT_EQ(places(row_model(14, 2, "nearest", "asymmetric", "floor"), 14), (std::vector<double>{0, 6}));
  EXPECT_EQ(places(row_model(20, 12, "nearest", "asymmetric", "floor"), 20),
            (std::vector<double>{0, 1, 3, 5, 6, 8, 10, 11, 13, 14, 16, 18}));
  // The middle between two places is told from f32's errors.
  EXPECT_EQ(places(row_model(25, 30, "nearest", "asymmetric", "round_prefer_ceil"), 25),
            (std::vector<double>{0,  1,  2,  3,  3,  4,  5,  6,  7,  8,  8,  9,  10, 11, 12,
                                 13, 13, 14, 15, 16, 17, 18, 18, 19, 20, 21, 22, 23, 23, 24}));
}

// No piece more than f32's errors ask for.
TEST(Resize, PlacesAreOnePieceWhereOneFractionGivesThem) {
  const auto pieces = [](NearestMode nearest, int64_t from, int64_t to) {
    const float scale = static_cast<float>(to) / static_cast<float>(from);
    return nearest_places(CoordinateMode::half_pixel, nearest, {from, to, scale})->size();
  };
  EXPECT_EQ(pieces(NearestMode::round_prefer_floor, 28, 62), 1U);
  EXPECT_EQ(pieces(NearestMode::round_prefer_ceil, 28, 114), 1U);
  EXPECT_EQ(pieces(NearestMode::round_prefer_ceil, 36, 10), 1U);
}

// x [1, 2, 2] of which the axes named are resized.
OnnxModel axes_model(const char* given, std::initializer_list<int64_t> axes) {
  OnnxModel model;
  model.operator_set(18).input("x", {1, 2, 2}).initializer("scales", {2}, {3, 2}).integers("sizes", {6, 4});
  const bool is_sizes = std::string(given) == "sizes";
  model.node("n", "Resize", {"x", "", is_sizes ? "" : "scales"}, "y").attribute("axes", axes).output("y");
  if (is_sizes) model.proto.mutable_graph()->mutable_node(0)->add_input("sizes");
  return model;
}

TEST(Resize, LeavesTheAxesThatAreNotNamed) {
  for (const char* given : {"scales", "sizes"}) {
    const Values result = run_network(axes_model(given, {-1, 1}), {numbered({1, 2, 2})});
    EXPECT_EQ(result.shape, (Shape{1, 4, 6})) << given;
    EXPECT_EQ(result.data, (std::vector<double>{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2,  //
                                                3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4}));
  }
  EXPECT_EQ(import_error(axes_model("scales", {1})),
            "node 'n' (Resize): it has 2 scales for the 1 axes of attribute 'axes'");
  EXPECT_EQ(import_error(axes_model("sizes", {1, 1})), "node 'n' (Resize): axis 1 is named twice");
  EXPECT_EQ(import_error(axes_model("sizes", {1, 3})), "node 'n' (Resize): there is no axis 3 among 3 axes");
}

// x [1, 4, 6] to sizes [7, 18] with the scale of one of them, 1.75 or 3.
OnnxModel policy_model(const char* policy) {
  OnnxModel model = node_model({1, 4, 6}, "Resize", {"x", "", "", "sizes"}).operator_set(18);
  model.integers("sizes", {7, 18}).attribute("axes", {1, 2}).attribute("keep_aspect_ratio_policy", policy);
  return model;
}

TEST(Resize, KeepsTheAspectRatioWhereItIsTold) {
  const auto shape = [](const char* policy) {
    return run_network(policy_model(policy), {numbered({1, 4, 6})}).shape;
  };
  EXPECT_EQ(shape("stretch"), (Shape{1, 7, 18}));
  EXPECT_EQ(shape("not_larger"), (Shape{1, 7, 11}));  // 10.5, rounded up
  EXPECT_EQ(shape("not_smaller"), (Shape{1, 12, 18}));
  EXPECT_EQ(
      import_error(policy_model("bigger")),
      "node 'n' (Resize): attribute 'keep_aspect_ratio_policy' is 'bigger', and Lathe supports stretch, "
      "not_larger and not_smaller");
  // Places are found by the one scale, not by the ratio of the extents, 6 to 11.
  OnnxModel model = policy_model("not_larger").attribute("coordinate_transformation_mode", "asymmetric");
  std::vector<double> y = run_network(model.attribute("nearest_mode", "floor"), {numbered({1, 4, 6})}).data;
  y.resize(11);
  EXPECT_EQ(y, (std::vector<double>{1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 6}));
}

// The network alone: differences of what is infinite are no numbers.
std::vector<double> blended(const Values& x, int64_t to, const std::string& coordinates) {
  const OnnxModel model = row_model(x.shape[1], to, "linear", coordinates);
  const Graph graph = import_onnx_bytes(model.bytes(), "m.onnx").value();
  std::vector<double> result = run_partition(graph, partition(graph).value(), {x})[0].data;
  for (double& value : result) value = static_cast<double>(static_cast<float>(value));
  return result;
}

TEST(Resize, OverflowsOnlyWhereTheResultDoes) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kLargest = std::numeric_limits<float>::max();
  EXPECT_EQ(blended({{1, 2}, {kLargest, -kLargest}}, 3, "align_corners"),
            (std::vector<double>{kLargest, 0, -kLargest}));
  EXPECT_EQ(blended({{1, 2}, {1, kInfinity}}, 3, "align_corners"),
            (std::vector<double>{1, kInfinity, kInfinity}));
  EXPECT_EQ(blended({{1, 2}, {kInfinity, 1}}, 3, "align_corners"),
            (std::vector<double>{kInfinity, kInfinity, 1}));
  EXPECT_EQ(blended({{1, 3}, {2, -kInfinity, 4}}, 5, "align_corners"),
            (std::vector<double>{2, -kInfinity, -kInfinity, -kInfinity, 4}));
  EXPECT_EQ(blended({{1, 2}, {kInfinity, 1}}, 4, "half_pixel"),
            (std::vector<double>{kInfinity, kInfinity, kInfinity, 1}));
}

// Weights that are rounded apart add up to more than 1.
TEST(Resize, AnImageOfOneNumberStaysThatNumber) {
  constexpr auto kLargest = static_cast<double>(std::numeric_limits<float>::max());
  const std::vector<double> numbers = {1, 0.1F, -3.14159274F, 1.2345678F, 1e-38F, kLargest, -kLargest};
  for (const std::string coordinates : kCoordinates) {
    for (const auto& [from, to] : {std::pair(2, 4),
                                   {4, 2},
                                   {4, 8},
                                   {5, 3},
                                   {5, 8},
                                   {5, 11},
                                   {3, 16},
                                   {9, 10},
                                   {7, 14},
                                   {7, 28},
                                   {15, 30}}) {
      SCOPED_TRACE(::testing::Message() << coordinates << " " << from << " to " << to);
      Values x{{7, from}, {}};
      std::vector<double> expected;
      for (const double number : numbers) {
        x.data.insert(x.data.end(), static_cast<size_t>(from), number);
        expected.insert(expected.end(), static_cast<size_t>(to), number);
      }
      OnnxModel model = node_model(x.shape, "Resize", {"x", "", "", "sizes"}).integers("sizes", {7, to});
      model.attribute("mode", "linear").attribute("coordinate_transformation_mode", coordinates.c_str());
      EXPECT_EQ(run_compiled(model, {x}), expected);
    }
  }
}

TEST(Resize, NumbersNextToTheLargestDoNotOverflow) {
  constexpr auto kLargest = static_cast<double>(std::numeric_limits<float>::max());
  const double before = kLargest - 0x1p104;
  for (const int64_t to : {5, 8, 11, 16}) {
    const OnnxModel model = row_model(4, to, "linear", "align_corners");
    for (const double y : run_compiled(model, {{{1, 4}, {kLargest, before, before, kLargest}}}))
      EXPECT_TRUE(y == kLargest || y == before) << y;
  }
}

// Numbers of 8 bits made real, resized by two and rounded again, by one scale: of 1,024 results dozens lie
// halfway, and are what sums of four rounded products give, in this order.
TEST(Resize, QuantizedHalvesFallAsInOnnxRuntime) {
  constexpr int64_t kExtent = 16;
  constexpr float kScale = 0.00131791F;
  OnnxModel model;
  model.input("q", {1, 1, kExtent, kExtent}, onnx::TensorProto_DataType_UINT8);
  model.initializer("scale", {}, {kScale}).integer("zero", onnx::TensorProto_DataType_UINT8, 0);
  model.initializer("by", {4}, {1, 1, 2, 2});
  model.node("d", "DequantizeLinear", {"q", "scale", "zero"}, "x");
  model.node("n", "Resize", {"x", "", "by"}, "r").attribute("mode", "linear");
  model.node("r.q", "QuantizeLinear", {"r", "scale", "zero"}, "y").output("y");
  Values numbers{{1, 1, kExtent, kExtent}, {}};
  for (int64_t i = 0; i < kExtent * kExtent; ++i)
    numbers.data.push_back(static_cast<double>(i * i * 37 % 256));

  const auto place = [](int64_t y) { return std::clamp<int64_t>((y + 1) / 2 - 1, 0, kExtent - 1); };
  const auto weights = [](int64_t y) -> std::pair<float, float> {
    if (y == 0) return {1, 0};
    if (y == 2 * kExtent - 1) return {0.5F, 0.5F};
    return y % 2 == 0 ? std::pair(0.25F, 0.75F) : std::pair(0.75F, 0.25F);
  };
  const auto real = [&](int64_t y, int64_t x) {
    const int64_t last = kExtent - 1;
    const auto at = static_cast<size_t>(std::min(y, last) * kExtent + std::min(x, last));
    return static_cast<float>(numbers.data[at]) * kScale;
  };
  std::vector<double> expected;
  for (int64_t y = 0; y < 2 * kExtent; ++y) {
    for (int64_t x = 0; x < 2 * kExtent; ++x) {
      const auto [above, below] = weights(y);
      const auto [left, right] = weights(x);
      const float products[] = {
          left * above * real(place(y), place(x)), right * above * real(place(y), place(x) + 1),
          left * below * real(place(y) + 1, place(x)), right * below * real(place(y) + 1, place(x) + 1)};
      float sum = products[0];
      for (int i = 1; i < 4; ++i) sum += products[i];
      expected.push_back(std::nearbyint(sum / kScale));
    }
  }
  EXPECT_EQ(run_compiled(model, {numbers}), expected);
}

TEST(Resize, TheNearestPlaceMayBeOfAnyType) {
  for (const int type : {onnx::TensorProto_DataType_INT64, onnx::TensorProto_DataType_INT32,
                         onnx::TensorProto_DataType_INT8, onnx::TensorProto_DataType_BOOL}) {
    OnnxModel model;
    model.input("x", {2}, type).integers("sizes", {4}).node("n", "Resize", {"x", "", "", "sizes"}, "y");
    EXPECT_EQ(run_network(model.output("y"), {{{2}, {0, 1}}}).data, (std::vector<double>{0, 0, 1, 1}));
    EXPECT_NE(run_network(model, {{{2}, {0, 1}}}).dtype, DType::f32);
    model.attribute("mode", "linear");
    const bool is_narrow = type == onnx::TensorProto_DataType_INT8;
    EXPECT_THAT(import_error(model),
                ::testing::HasSubstr(is_narrow ? "imported" : "and Lathe supports f32 here"));
  }
}

TEST(Resize, NamesWhatItCannotTake) {
  EXPECT_EQ(import_error(row_model(2, 4, "sharp", "half_pixel")),
            "node 'n' (Resize): attribute 'mode' is 'sharp', and Lathe supports nearest, linear, cubic");
  EXPECT_EQ(
      import_error(row_model(2, 4, "linear", "tf_half_pixel_for_nn")),
      "node 'n' (Resize): attribute 'coordinate_transformation_mode' is 'tf_half_pixel_for_nn', and Lathe "
      "supports half_pixel, half_pixel_symmetric, pytorch_half_pixel, asymmetric, align_corners, "
      "tf_crop_and_resize");
  EXPECT_EQ(import_error(row_model(2, 4, "nearest", "half_pixel", "up")),
            "node 'n' (Resize): attribute 'nearest_mode' is 'up', and Lathe supports round_prefer_floor, "
            "round_prefer_ceil, floor, ceil");
  OnnxModel scales;
  scales.input("x", {1, 5}).initializer("scales", {2}, {1, 0.125F}).initializer("one", {1}, {2});
  scales.node("n", "Resize", {"x", "", "scales"}, "y").output("y");
  EXPECT_EQ(import_error(scales),
            "node 'n' (Resize): the scale 0.125 of axis 1, which has 5 places, gives no number of them that "
            "Lathe supports");
  scales.proto.mutable_graph()->mutable_node(0)->set_input(2, "one");
  EXPECT_EQ(import_error(scales), "node 'n' (Resize): it has 1 scales for 2 axes");
}

}  // namespace
}  // namespace lathe
