// Each element-wise ONNX operator: the reference against its formula, and the network (interpreted task by
// task) against the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "graph/network_runner.h"
#include "graph/onnx_models.h"

namespace lathe {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

Shape image_shape() { return {1, 2, 2, 3}; }
std::vector<double> image() { return {-7.5, -3, -2.5, -0.5, -0.25, 0, 0.25, 0.5, 1.5, 2.5, 3, 3.5}; }

struct MapCase {
  const char* type;
  std::function<double(double)> function;
  bool positive_only = false;
};

std::vector<MapCase> map_cases() {
  return {{"Relu", [](double x) { return x > 0 ? x : 0; }},
          {"LeakyRelu", [](double x) { return x < 0 ? 0.01 * x : x; }},
          {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
          {"HardSigmoid", [](double x) { return std::fmax(0, std::fmin(1, 0.2 * x + 0.5)); }},
          {"HardSwish", [](double x) { return x * std::fmax(0, std::fmin(1, x / 6 + 0.5)); }},
          {"Tanh", [](double x) { return std::tanh(x); }},
          {"Exp", [](double x) { return std::exp(x); }},
          {"Erf", [](double x) { return std::erf(x); }},
          {"Abs", [](double x) { return std::fabs(x); }},
          {"Neg", [](double x) { return -x; }},
          {"Elu", [](double x) { return x < 0 ? std::exp(x) - 1 : x; }},
          {"Softplus", [](double x) { return std::log(1 + std::exp(x)); }},
          {"Log", [](double x) { return std::log(x); }, true},
          {"Sqrt", [](double x) { return std::sqrt(x); }, true},
          {"Reciprocal", [](double x) { return 1 / x; }, true}};
}

TEST(Elementwise, FunctionsOfOneOperand) {
  for (const MapCase& test : map_cases()) {
    SCOPED_TRACE(test.type);
    OnnxModel model;
    model.input("x", image_shape()).node("n", test.type, {"x"}, "y").output("y");
    std::vector<double> data = image();
    if (test.positive_only) {
      for (double& x : data) x = std::fabs(x) + 0.125;
    }
    std::vector<double> expected;
    for (const double x : data) expected.push_back(test.function(x));
    // The attributes of LeakyRelu and HardSigmoid are f32.
    EXPECT_THAT(run_network(model, {{image_shape(), data}}).data, Pointwise(DoubleNear(1e-6), expected));
  }
}

TEST(Elementwise, FunctionsOfTwoOperandsBroadcast) {
  const std::vector<std::pair<const char*, std::function<double(double, double)>>> cases = {
      {"Add", [](double x, double y) { return x + y; }},
      {"Sub", [](double x, double y) { return x - y; }},
      {"Mul", [](double x, double y) { return x * y; }},
      {"Div", [](double x, double y) { return x / y; }},
      {"PRelu", [](double x, double y) { return x < 0 ? x * y : x; }},
      {"Sum", [](double x, double y) { return x + y; }},
      {"Max", [](double x, double y) { return std::fmax(x, y); }},
      {"Min", [](double x, double y) { return std::fmin(x, y); }}};
  const std::vector<float> channels = {0.5F, -2.0F};
  for (const auto& [type, function] : cases) {
    SCOPED_TRACE(type);
    OnnxModel model;
    model.input("x", image_shape()).initializer("c", {2, 1, 1}, channels).node("n", type, {"x", "c"}, "y");
    model.output("y");
    std::vector<double> expected;
    for (size_t i = 0; i < image().size(); ++i) expected.push_back(function(image()[i], channels[i / 6]));
    EXPECT_EQ(run_network(model, {{image_shape(), image()}}).data, expected);
  }
}

OnnxModel power_model(double exponent) {
  OnnxModel model;
  model.input("x", {4})
      .initializer("e", {}, {static_cast<float>(exponent)})
      .node("n", "Pow", {"x", "e"}, "y");
  return std::move(model.output("y"));
}

TEST(Elementwise, PowersKeepTheSignOfWholeExponents) {
  const std::vector<double> near_one = {-1.03125, -0.5, 0.5, 1.03125};
  for (const double exponent : {0.0, 1.0, 2.0, 3.0, 7.0, 64.0, 65.0, 66.0, 101.0, -1.0, -2.0, -65.0}) {
    SCOPED_TRACE(exponent);
    std::vector<double> x = near_one;
    if (exponent < -2) x[1] = -1.5, x[2] = 1.5;  // keeps the results in range
    std::vector<double> expected;
    for (const double each : x) expected.push_back(std::pow(each, exponent));
    EXPECT_THAT(run_network(power_model(exponent), {{{4}, x}}).data, Pointwise(DoubleNear(1e-9), expected));
  }
}

TEST(Elementwise, PowersOfFractionsAreOfPositiveNumbers) {
  for (const double exponent : {0.5, 1.5, -0.25}) {
    SCOPED_TRACE(exponent);
    const std::vector<double> x = {0.25, 1, 2, 9};
    std::vector<double> expected;
    for (const double each : x) expected.push_back(std::pow(each, exponent));
    EXPECT_THAT(run_network(power_model(exponent), {{{4}, x}}).data, Pointwise(DoubleNear(1e-9), expected));
  }
}

TEST(Elementwise, PowTakesAWholeExponentAndNamesWhatItCannotTake) {
  OnnxModel model;
  model.input("x", {2}).integers("e", {1}, {3}).node("n", "Pow", {"x", "e"}, "y").output("y");
  EXPECT_EQ(run_network(model, {{{2}, {-2, 3}}}).data, (std::vector<double>{-8, 27}));
  OnnxModel axes;
  axes.input("x", {2}).initializer("e", {1, 1}, {3}).node("n", "Pow", {"x", "e"}, "y").output("y");
  EXPECT_EQ(import_error(axes), "node 'n' (Pow): its exponent [1,1] has more axes than its base [2]");
  OnnxModel two;
  two.input("x", {2}).integers("e", {3, 2}).node("n", "Pow", {"x", "e"}, "y").output("y");
  EXPECT_EQ(import_error(two), "node 'n' (Pow): it has 2 exponents, and Lathe supports one");
  OnnxModel reals;
  reals.input("x", {2}).initializer("e", {2}).node("n", "Pow", {"x", "e"}, "y").output("y");
  EXPECT_EQ(import_error(reals), "node 'n' (Pow): input 1, 'e', is f32[2], and must be one f32");
}

// y = x + Cast(Cast(k)), the first to this element type.
OnnxModel cast_model(int type, const std::vector<float>& values) {
  OnnxModel model;
  const auto count = static_cast<int64_t>(values.size());
  model.input("x", {count})
      .initializer("k", {count}, values)
      .node("n", "Cast", {"k"}, "t")
      .attribute("to", type);
  model.node("m", "Cast", {"t"}, "u").attribute("to", onnx::TensorProto_DataType_FLOAT);
  return std::move(model.node("a", "Add", {"x", "u"}, "y").output("y"));
}

TEST(Elementwise, CastsOfConstantsCutOffTowardsZero) {
  const Values zeros{{5}, {0, 0, 0, 0, 0}};
  const std::vector<float> values = {2.75F, -2.75F, 0, 0.5F, 1e30F};
  EXPECT_EQ(run_network(cast_model(onnx::TensorProto_DataType_INT32, values), {zeros}).data,
            (std::vector<double>{2, -2, 0, 0, 2147483648.0}));  // the nearest that i32 and then f32 hold
  EXPECT_EQ(run_network(cast_model(onnx::TensorProto_DataType_BOOL, values), {zeros}).data,
            (std::vector<double>{1, 1, 0, 1, 1}));
}

TEST(Elementwise, CastsOfComputedDataAreToF32) {
  OnnxModel model;
  model.input("x", {2}).node("n", "Cast", {"x"}, "y").attribute("to", onnx::TensorProto_DataType_INT64);
  EXPECT_EQ(import_error(model.output("y")),
            "node 'n' (Cast): it computes i64 of what is no constant, and Lathe supports f32 there");
  OnnxModel same;
  same.input("x", {2}).node("n", "Cast", {"x"}, "t").attribute("to", onnx::TensorProto_DataType_FLOAT);
  same.node("m", "Neg", {"t"}, "y").output("y");
  EXPECT_EQ(run_network(same, {numbered({2})}).data, (std::vector<double>{-1, -2}));
}

TEST(Elementwise, ClipTakesItsBoundsFromAttributesOrConstants) {
  const auto clipped = [](double low, double high) {
    std::vector<double> expected;
    for (const double x : image()) expected.push_back(std::fmax(low, std::fmin(high, x)));
    return expected;
  };
  OnnxModel attributes;
  attributes.input("x", image_shape()).node("n", "Clip", {"x"}, "y").output("y");
  attributes.attribute("min", -1.0).attribute("max", 2.0);
  EXPECT_EQ(run_network(attributes, {{image_shape(), image()}}).data, clipped(-1, 2));
  OnnxModel both;
  both.input("x", image_shape()).initializer("low", {}, {0.0F}).initializer("high", {}, {6.0F});
  both.node("n", "Clip", {"x", "low", "high"}, "y").output("y");
  EXPECT_EQ(run_network(both, {{image_shape(), image()}}).data, clipped(0, 6));
  OnnxModel upper;
  upper.input("x", image_shape()).initializer("high", {}, {1.0F});
  upper.node("n", "Clip", {"x", "", "high"}, "y").output("y");
  EXPECT_EQ(run_network(upper, {{image_shape(), image()}}).data, clipped(-1e30, 1));
  OnnxModel computed;
  computed.input("x", image_shape()).input("low", {}).node("n", "Clip", {"x", "low"}, "y").output("y");
  EXPECT_EQ(import_error(computed),
            "node 'n' (Clip): input 1, 'low', is an input of the model, and Lathe supports a constant there");
}

}  // namespace
}  // namespace lathe
