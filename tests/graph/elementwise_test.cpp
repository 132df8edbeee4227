// Each element-wise ONNX operator: the reference against its formula, and the network (interpreted task by
// task) against the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "graph/network_runner.h"
#include "graph/onnx_import.h"
#include "graph/onnx_models.h"
#include "graph/partition.h"
#include "graph/simplify.h"

namespace lathe {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

Shape image_shape() { return {1, 2, 2, 3}; }
std::vector<double> image() { return {-7.5, -3, -2.5, -0.5, -0.25, 0, 0.25, 0.5, 1.5, 2.5, 3, 3.5}; }

std::vector<double> run_network(const OnnxModel& model, const std::vector<Values>& inputs) {
  const Graph graph = import_onnx_bytes(model.bytes(), "m.onnx").value();
  const std::vector<double> reference = evaluate_graph(graph, inputs).value()[0].data;
  const Graph simple = simplify(graph);
  const std::vector<Values> actual = run_partition(simple, partition(simple).value(), inputs);
  EXPECT_THAT(actual[0].data, Pointwise(DoubleNear(1e-5), reference));
  return reference;
}

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
    EXPECT_THAT(run_network(model, {{image_shape(), data}}), Pointwise(DoubleNear(1e-6), expected));
  }
}

TEST(Elementwise, FunctionsOfTwoOperandsBroadcast) {
  const std::vector<std::pair<const char*, std::function<double(double, double)>>> cases = {
      {"Add", [](double x, double y) { return x + y; }},
      {"Sub", [](double x, double y) { return x - y; }},
      {"Mul", [](double x, double y) { return x * y; }},
      {"Div", [](double x, double y) { return x / y; }},
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
    EXPECT_EQ(run_network(model, {{image_shape(), image()}}), expected);
  }
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
  EXPECT_EQ(run_network(attributes, {{image_shape(), image()}}), clipped(-1, 2));
  OnnxModel both;
  both.input("x", image_shape()).initializer("low", {}, {0.0F}).initializer("high", {}, {6.0F});
  both.node("n", "Clip", {"x", "low", "high"}, "y").output("y");
  EXPECT_EQ(run_network(both, {{image_shape(), image()}}), clipped(0, 6));
  OnnxModel upper;
  upper.input("x", image_shape()).initializer("high", {}, {1.0F});
  upper.node("n", "Clip", {"x", "", "high"}, "y").output("y");
  EXPECT_EQ(run_network(upper, {{image_shape(), image()}}), clipped(-1e30, 1));
  OnnxModel computed;
  computed.input("x", image_shape()).input("low", {}).node("n", "Clip", {"x", "low"}, "y").output("y");
  EXPECT_EQ(import_onnx_bytes(computed.bytes(), "m.onnx").error().message,
            "node 'n' (Clip): input 1, 'low', is computed, and Lathe supports a constant there");
}

}  // namespace
}  // namespace lathe
