// Each element-wise ONNX operator: the reference against its formula, and the network (interpreted task by
// task) against the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "expr/parse.h"
#include "expr/print.h"
#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "graph/simplify.h"
#include "network/network_tasks.h"
#include "network/partition.h"
#include "target/all.h"
#include "target/target.h"

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
          {"Sign", [](double x) { return x > 0   ? 1.0
                                         : x < 0 ? -1.0
                                                 : 0.0; }},
          {"Floor", [](double x) { return std::floor(x); }},
          {"Ceil", [](double x) { return std::ceil(x); }},
          {"Sin", [](double x) { return std::sin(x); }},
          {"Cos", [](double x) { return std::cos(x); }},
          {"Tan", [](double x) { return std::tan(x); }},
          {"Celu", [](double x) { return x < 0 ? std::exp(x) - 1 : x; }},
          {"Selu",
           [](double x) { return 1.0507009873554805 * (x < 0 ? 1.6732632423543772 * std::expm1(x) : x); }},
          {"ThresholdedRelu", [](double x) { return x > 1 ? x : 0; }},
          {"Softsign", [](double x) { return x / (1 + std::fabs(x)); }},
          {"Shrink", [](double x) { return x < -0.5 || x > 0.5 ? x : 0; }},
          {"Log", [](double x) { return std::log(x); }, true},
          {"Sqrt", [](double x) { return std::sqrt(x); }, true},
          {"Reciprocal", [](double x) { return 1 / x; }, true}};
}

// 0 where the result is no normal number, 1 where e^-x is nothing beside it, NaN of NaN.
TEST(Elementwise, ASigmoidFarFromZero) {
  OnnxModel model;
  model.input("x", {7}).node("n", "Sigmoid", {"x"}, "y").output("y");
  const Graph graph = simplify(import_onnx_bytes(model.bytes(), "m.onnx").value());
  const Values x{{7}, {-INFINITY, -88, -87, 0, 90, INFINITY, NAN}};
  const std::vector<double> y = run_partition(graph, partition(graph).value(), {x})[0].data;
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 0);
  EXPECT_NEAR(y[2], 1 / (1 + std::exp(87)), 1e-43);
  EXPECT_EQ(y[3], 0.5);
  EXPECT_EQ(y[4], 1);
  EXPECT_EQ(y[5], 1);
  EXPECT_TRUE(std::isnan(y[6]));
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

// y = type(x) in the newest operator set, with attributes of reals.
Values run_newest(const char* type, const Values& x,
                  const std::vector<std::pair<const char*, double>>& attributes = {}) {
  OnnxModel model;
  model.operator_set(23).input("x", x.shape).node("n", type, {"x"}, "y").output("y");
  for (const auto& [name, value] : attributes) model.attribute(name, value);
  return run_network(model, {x});
}

std::vector<double> mapped(const std::vector<double>& x, const std::function<double(double)>& function) {
  std::vector<double> result;
  for (const double each : x) result.push_back(function(each));
  return result;
}

TEST(Elementwise, FunctionsOfLaterOperatorSets) {
  const Values x{image_shape(), image()};
  const auto gelu = [](double each) { return each / 2 * (1 + std::erf(each / std::sqrt(2))); };
  EXPECT_THAT(run_newest("Gelu", x).data, Pointwise(DoubleNear(1e-6), mapped(image(), gelu)));
  const auto mish = [](double each) { return each * std::tanh(std::log1p(std::exp(each))); };
  EXPECT_THAT(run_newest("Mish", x).data, Pointwise(DoubleNear(1e-6), mapped(image(), mish)));
}

struct SmallCase {
  const char* type;
  std::vector<std::pair<const char*, double>> attributes;
  std::function<double(double)> function;
};

std::vector<SmallCase> small_cases() {
  const auto soft_plus = [](double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); };
  const auto exp_less_1 = [](double a, double b, double x) { return x < 0 ? a * std::expm1(x / b) : x; };
  return {{"Softplus", {}, soft_plus},
          {"Elu", {{"alpha", 2.0}}, [=](double x) { return exp_less_1(2, 1, x); }},
          {"Selu", {{"alpha", 2.0}, {"gamma", 3.0}}, [=](double x) { return 3 * exp_less_1(2, 1, x); }},
          {"Celu", {{"alpha", 4.0}}, [=](double x) { return exp_less_1(4, 4, x); }},
          {"Celu", {{"alpha", -1.0}}, [=](double x) { return exp_less_1(-1, -1, x); }},
          {"Celu", {{"alpha", -16.0}}, [=](double x) { return exp_less_1(-16, -16, x); }},
          {"Mish", {}, [=](double x) { return x * std::tanh(soft_plus(x)); }},
          {"Softsign", {}, [](double x) { return x / (1 + std::fabs(x)); }}};
}

// A difference or a sum with 1 on the way would lose their digits.
TEST(Elementwise, SmallResultsKeepTheirDigits) {
  std::vector<double> x = {-87, -40, -20, -10, -3, -1, 1, 3, 10, 20, 40, 87};
  for (const double tiny : {0.75, 0.501, 0.5, 0.499, 0.1, 1e-3, 1e-5, 1e-8, 1e-20, 1e-37})
    for (const double sign : {-1.0, 1.0}) x.push_back(static_cast<double>(static_cast<float>(sign * tiny)));
  const auto count = static_cast<int64_t>(x.size());
  for (const SmallCase& test : small_cases()) {
    SCOPED_TRACE(test.type);
    OnnxModel model;
    model.input("x", {count}).node("n", test.type, {"x"}, "y").operator_set(18).output("y");
    for (const auto& [name, value] : test.attributes) model.attribute(name, value);
    const Graph graph = import_onnx_bytes(model.bytes(), "m.onnx").value();
    const std::vector<double> folded =
        evaluate_graph(graph, std::vector<Values>{{{count}, x}}).value()[0].data;
    const std::vector<double> computed = run_compiled(model, {{{count}, x}});
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = test.function(x[i]);
      EXPECT_NEAR(folded[i], expected, 1e-12 * std::fabs(expected)) << x[i];
      // Of a large quotient e^x grows the rounding.
      const double units = std::fabs(expected) > 1e3 ? 64 : 4;
      EXPECT_NEAR(computed[i], expected, units * 0x1p-23 * std::fabs(expected)) << x[i];
    }
  }
}

TEST(Elementwise, CeluTakesANegativeAlpha) {
  const auto run = [](double alpha, const std::vector<double>& x) {
    OnnxModel model = node_model({4}, "Celu").attribute("alpha", alpha);
    return run_compiled(model, {{{4}, x}});
  };
  EXPECT_THAT(run(-1, {-2, -0.5, 0, 1}),
              Pointwise(DoubleNear(1e-6), std::vector<double>{-6.389056, -0.6487213, 0, 1}));
  // e^90 is beyond f32, and 2^-10 times it is not; that of e^160 is.
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> y = run(-0x1p-10, {-0.087890625, -0.15625, -infinity, 2});
  EXPECT_NEAR(y[0] / (-0x1p-10 * std::exp(90)), 1, 1e-5);
  EXPECT_EQ(std::vector<double>(y.begin() + 1, y.end()), (std::vector<double>{-infinity, -infinity, 2}));
}

TEST(Elementwise, HalvesAreRoundedToTheEvenOne) {
  OnnxModel model;
  model.input("x", {7}).node("n", "Round", {"x"}, "y").output("y");
  EXPECT_EQ(run_network(model, {{{7}, {0.5, 1.5, 2.5, -0.5, -1.5, 2.25, -7.75}}}).data,
            (std::vector<double>{0, 2, 2, 0, -2, 2, -8}));
}

TEST(Elementwise, HyperbolicFunctions) {
  const std::vector<double> x = {-3, -1, -0.5, -1e-4, 0, 0.25, 1, 2.5};
  const auto sinh = mapped(x, [](double each) { return std::sinh(each); });
  EXPECT_THAT(run_newest("Sinh", {{8}, x}).data, Pointwise(DoubleNear(1e-5), sinh));
  const auto cosh = mapped(x, [](double each) { return std::cosh(each); });
  EXPECT_THAT(run_newest("Cosh", {{8}, x}).data, Pointwise(DoubleNear(1e-5), cosh));
}

TEST(Elementwise, GeluByTanh) {
  const auto model = [](const char* approximate) {
    OnnxModel gelu;
    gelu.operator_set(20).input("x", {3}).node("n", "Gelu", {"x"}, "y").output("y");
    return gelu.attribute("approximate", approximate);
  };
  EXPECT_THAT(run_network(model("tanh"), {{{3}, {-1, 0.5, 3}}}).data,
              Pointwise(DoubleNear(1e-6), std::vector<double>{-0.15880801, 0.34571401, 2.99636269}));
  const std::vector<double> small = run_compiled(model("tanh"), {{{3}, {-6, -4, -1e-20}}});
  const std::vector<double> expected = {-8.4396467e-11, -7.0245948e-5, -5e-21};
  for (size_t i = 0; i < small.size(); ++i) EXPECT_NEAR(small[i] / expected[i], 1, 1e-4);
  EXPECT_EQ(import_error(model("sinh")),
            "node 'n' (Gelu): attribute 'approximate' is 'sinh', and must be none or tanh");
}

TEST(Elementwise, AttributesOfReals) {
  const auto run = [](const char* type, const std::vector<std::pair<const char*, double>>& attributes) {
    return run_newest(type, Values{{4}, {-2, -0.25, 0.25, 2}}, attributes).data;
  };
  const auto near = [](const std::vector<double>& expected) { return Pointwise(DoubleNear(1e-6), expected); };
  EXPECT_THAT(run("Celu", {{"alpha", 2.0}}), near({2 * std::expm1(-1), 2 * std::expm1(-0.125), 0.25, 2}));
  EXPECT_THAT(run("Selu", {{"alpha", 2.0}, {"gamma", 3.0}}),
              near({6 * std::expm1(-2), 6 * std::expm1(-0.25), 0.75, 6}));
  EXPECT_THAT(run("ThresholdedRelu", {{"alpha", 0.125}}), near({0, 0, 0.25, 2}));
  EXPECT_THAT(run("Shrink", {{"lambd", 1.5}, {"bias", 1.0}}), near({-1, 0, 0, 1}));
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

// y = Cast(x) to this element type, of an input of the other one.
OnnxModel computed_cast_model(int from, int to, int64_t count) {
  OnnxModel model;
  model.input("x", {count}, from).node("n", "Cast", {"x"}, "y").attribute("to", to);
  return std::move(model.output("y"));
}

TEST(Elementwise, CastsOfComputedDataGoBothWays) {
  constexpr int kF32 = onnx::TensorProto_DataType_FLOAT, kI64 = onnx::TensorProto_DataType_INT64;
  constexpr int kI32 = onnx::TensorProto_DataType_INT32, kBool = onnx::TensorProto_DataType_BOOL;
  const std::vector<double> x = {2.75, -2.75, 0, 1.5, -7};
  const auto cast = [&](int from, int to, const std::vector<double>& values) {
    return run_network(computed_cast_model(from, to, 5), {{{5}, values}});
  };
  for (const int whole : {kI64, kI32}) {
    EXPECT_EQ(cast(kF32, whole, x).data, (std::vector<double>{2, -2, 0, 1, -7}));
    EXPECT_EQ(cast(whole, kF32, {5, -1, 0, 3, 9}).data, (std::vector<double>{5, -1, 0, 3, 9}));
  }
  EXPECT_EQ(cast(kF32, kI64, x).dtype, DType::i64);
  EXPECT_EQ(cast(kF32, kBool, {2.75, -0.0, 0, 0.5, NAN}).data, (std::vector<double>{1, 0, 0, 1, 1}));
  EXPECT_EQ(cast(kF32, kI32, {3e9, -3e9, NAN, 1e30, -1}).data,
            (std::vector<double>{2147483647, -2147483648.0, 0, 2147483647, -1}));
  EXPECT_EQ(cast(kBool, kF32, {1, 0, 1, 1, 0}).data, (std::vector<double>{1, 0, 1, 1, 0}));
  EXPECT_EQ(cast(kI64, kI32, {4294967297, -1, 0, 2147483648, 5}).data,
            (std::vector<double>{1, -1, 0, -2147483648.0, 5}));
}

TEST(Elementwise, CastsToAndFromDoubles) {
  const auto cast = [](int from, int to, const std::vector<double>& values) {
    return run_network(computed_cast_model(from, to, 2), {{{2}, values}}).data;
  };
  using onnx::TensorProto;
  EXPECT_EQ(cast(TensorProto::DOUBLE, TensorProto::INT64, {0x1p40 + 0.5, -1e300}),
            (std::vector<double>{0x1p40, -0x1p63}));
  EXPECT_EQ(cast(TensorProto::FLOAT16, TensorProto::DOUBLE, {0.5, -2}), (std::vector<double>{0.5, -2}));
  EXPECT_EQ(cast(TensorProto::DOUBLE, TensorProto::FLOAT16, {1.0 / 3, -2}),
            (std::vector<double>{0.333251953125, -2}));
}

struct DoubleFunction {
  const char* type;
  double (*value)(double);
  double least, most;
};

// As machine code, in units in the last place: of what f32 has to spare for its own digits nothing is left.
TEST(Elementwise, DoublesKeepTheirDigits) {
  const auto soft_plus = [](double x) { return std::log1p(std::exp(x)); };
  const auto elu = [](double x) { return x < 0 ? std::expm1(x) : x; };
  const DoubleFunction functions[] = {{"Exp", std::exp, -700, 700},      {"Log", std::log, 1e-300, 1e300},
                                      {"Tanh", std::tanh, -20, 20},      {"Erf", std::erf, -6, 6},
                                      {"Sin", std::sin, -1e6, 1e6},      {"Cos", std::cos, -1e6, 1e6},
                                      {"Sqrt", std::sqrt, 0, 1e300},     {"Elu", elu, -3, 3},
                                      {"Softplus", soft_plus, -3, 3},    {"Sinh", std::sinh, -3, 3},
                                      {"Cosh", std::cosh, -30, 30},      {"Asin", std::asin, -1, 1},
                                      {"Acos", std::acos, -1, 1},        {"Atan", std::atan, -20, 20},
                                      {"Asinh", std::asinh, -20, 20},    {"Acosh", std::acosh, 1, 50},
                                      {"Atanh", std::atanh, -0.99, 0.99}};
  constexpr int64_t kCount = 1001;
  for (const DoubleFunction& function : functions) {
    Values x{{kCount}, {}, DType::f64};
    for (int64_t i = 0; i < kCount; ++i) {
      const double share = static_cast<double>(i) / (kCount - 1);
      x.data.push_back(function.least * (1 - share) + function.most * share);
    }
    OnnxModel model;
    model.input("x", {kCount}, onnx::TensorProto_DataType_DOUBLE).node("n", function.type, {"x"}, "y");
    const std::vector<double> y = run_compiled(model.output("y"), {x});
    for (size_t i = 0; i < y.size(); ++i) {
      const double right = function.value(x.data[i]);
      EXPECT_LE(std::abs(y[i] - right), 24 * 0x1p-53 * std::abs(right) + 1e-300)
          << function.type << " of " << x.data[i];
    }
  }
}

TEST(Elementwise, CastsToConditionsReadAsTheyPrint) {
  for (const int from : {onnx::TensorProto_DataType_FLOAT, onnx::TensorProto_DataType_INT64}) {
    const OnnxModel model = computed_cast_model(from, onnx::TensorProto_DataType_BOOL, 5);
    const Graph graph = simplify(import_onnx_bytes(model.bytes(), "m.onnx").value());
    const Partition parts = partition(graph).value();
    const NetworkTasks network = network_tasks(graph, parts, generic_target("x86-avx2")).value();
    for (const WeightedTask& entry : network.tasks) {
      const std::string text = to_string(entry.task.dag);
      const Result<Dag> read = parse_dag(text);
      ASSERT_TRUE(read.has_value()) << read.error().to_string();
      EXPECT_EQ(to_string(*read), text);
    }
  }
}

TEST(Elementwise, CastsToTheSameTypeAreNothing) {
  OnnxModel same;
  same.input("x", {2}).node("n", "Cast", {"x"}, "t").attribute("to", onnx::TensorProto_DataType_FLOAT);
  same.node("m", "Neg", {"t"}, "y").output("y");
  EXPECT_EQ(run_network(same, {numbered({2})}).data, (std::vector<double>{-1, -2}));
}

TEST(Elementwise, IntegersKeepTheirTypeAndWrapAround) {
  const auto run = [](const char* type, int dtype, const std::vector<double>& values) {
    OnnxModel model;
    const auto count = static_cast<int64_t>(values.size());
    model.input("x", {count}, dtype).node("n", type, {"x"}, "y").output("y");
    return run_network(model, {{{count}, values}}).data;
  };
  constexpr int kI8 = onnx::TensorProto_DataType_INT8, kI64 = onnx::TensorProto_DataType_INT64;
  EXPECT_EQ(run("Neg", kI8, {5, -128, 127}), (std::vector<double>{-5, -128, -127}));
  EXPECT_EQ(run("Abs", kI8, {-5, -128, 127}), (std::vector<double>{5, -128, 127}));
  EXPECT_EQ(run("Relu", kI64, {-5, 0, 7}), (std::vector<double>{0, 0, 7}));
  EXPECT_EQ(run("Sign", kI64, {-5, 0, 7}), (std::vector<double>{-1, 0, 1}));
  EXPECT_EQ(run("Sign", onnx::TensorProto_DataType_FLOAT, {-0.25, 0, 7}), (std::vector<double>{-1, 0, 1}));
}

TEST(Elementwise, ConditionsOfReals) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> x = {1, NAN, kInfinity, -kInfinity};
  const auto run = [&](const char* type, const std::vector<std::pair<const char*, int>>& attributes = {}) {
    OnnxModel model;
    model.input("x", {4}).node("n", type, {"x"}, "y").output("y");
    for (const auto& [name, value] : attributes) model.attribute(name, value);
    const Values y = run_network(model, {{{4}, x}});
    EXPECT_EQ(y.dtype, DType::boolean);
    return y.data;
  };
  EXPECT_EQ(run("IsNaN"), (std::vector<double>{0, 1, 0, 0}));
  EXPECT_EQ(run("IsInf"), (std::vector<double>{0, 0, 1, 1}));
  EXPECT_EQ(run("IsInf", {{"detect_negative", 0}}), (std::vector<double>{0, 0, 1, 0}));
  EXPECT_EQ(run("IsInf", {{"detect_positive", 0}}), (std::vector<double>{0, 0, 0, 1}));
  EXPECT_EQ(run("IsInf", {{"detect_positive", 0}, {"detect_negative", 0}}),
            (std::vector<double>{0, 0, 0, 0}));
  OnnxModel truths;
  truths.input("x", {2}, onnx::TensorProto_DataType_BOOL).node("n", "Not", {"x"}, "y").output("y");
  EXPECT_EQ(run_network(truths, {{{2}, {0, 1}}}).data, (std::vector<double>{1, 0}));
}

TEST(Elementwise, TurnsBitsAround) {
  OnnxModel model;
  model.operator_set(18);
  model.input("x", {3}, onnx::TensorProto_DataType_UINT8).node("n", "BitwiseNot", {"x"}, "y").output("y");
  EXPECT_EQ(run_network(model, {{{3}, {0, 255, 5}}}).data, (std::vector<double>{255, 0, 250}));
}

TEST(BitCast, KeepsTheBits) {
  const auto cast = [](int from, int to, const std::vector<double>& x) {
    OnnxModel model;
    model.operator_set(26);
    const Shape shape = {static_cast<int64_t>(x.size())};
    model.input("x", shape, from).node("n", "BitCast", {"x"}, "y").attribute("to", int64_t{to}).output("y");
    return run_network(model, {{shape, x}}).data;
  };
  using onnx::TensorProto;
  EXPECT_EQ(cast(TensorProto::FLOAT, TensorProto::UINT32, {1, -2}),
            (std::vector<double>{0x3f800000, 0xc0000000}));
  EXPECT_EQ(cast(TensorProto::INT32, TensorProto::FLOAT, {0x3f800000, 0}), (std::vector<double>{1, 0}));
  EXPECT_EQ(cast(TensorProto::FLOAT16, TensorProto::UINT16, {1, -2}), (std::vector<double>{0x3c00, 0xc000}));
  EXPECT_EQ(cast(TensorProto::UINT16, TensorProto::FLOAT16, {0x3c00, 0xc000}), (std::vector<double>{1, -2}));
  EXPECT_EQ(cast(TensorProto::INT8, TensorProto::UINT8, {-1, 3}), (std::vector<double>{255, 3}));
  EXPECT_EQ(cast(TensorProto::BOOL, TensorProto::UINT8, {1, 0}), (std::vector<double>{1, 0}));
  EXPECT_EQ(cast(TensorProto::UINT8, TensorProto::BOOL, {2, 0}), (std::vector<double>{1, 0}));
}

TEST(BitCast, RefusesAnotherWidth) {
  OnnxModel model;
  model.operator_set(26);
  model.input("x", {2}).node("n", "BitCast", {"x"}, "y");
  model.attribute("to", int64_t{onnx::TensorProto_DataType_UINT8}).output("y");
  EXPECT_EQ(import_error(model),
            "node 'n' (BitCast): it takes the bits of f32 for u8, and must take those of a type of as "
            "many");
}

TEST(Elementwise, ClipTakesComputedBounds) {
  OnnxModel model;
  model.input("x", {4}).input("low", {}).node("m", "Neg", {"low"}, "high");
  model.node("n", "Clip", {"x", "low", "high"}, "y").output("y");
  EXPECT_EQ(run_network(model, {{{4}, {-5, -1, 1, 7}}, {{}, {-2}}}).data,
            (std::vector<double>{-2, -1, 1, 2}));
  OnnxModel whole;
  whole.input("x", {4}, onnx::TensorProto_DataType_INT64).integers("high", Shape{}, {3});
  whole.node("n", "Clip", {"x", "", "high"}, "y").output("y");
  EXPECT_EQ(run_network(whole, {{{4}, {-5, -1, 1, 7}}}).data, (std::vector<double>{-5, -1, 1, 3}));
}

// Infinity is no larger than a bound that is not there.
TEST(Elementwise, ClipWithoutABoundKeepsInfinity) {
  OnnxModel model;
  model.input("x", {2}).initializer("low", {}, {0}).node("n", "Clip", {"x", "low"}, "y").output("y");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(run_network(model, {{{2}, {infinity, -infinity}}}).data, (std::vector<double>{infinity, 0}));
}

TEST(Elementwise, ManyOperandsAreTakenOneAfterAnother) {
  const auto run = [](const char* type, const std::vector<std::string>& inputs) {
    OnnxModel model;
    model.input("a", {2}).input("b", {2}).input("c", {1}).node("n", type, inputs, "y").output("y");
    return run_network(model, {{{2}, {1, -4}}, {{2}, {2, 6}}, {{1}, {3}}}).data;
  };
  using Row = std::vector<double>;
  EXPECT_EQ(run("Max", {"a", "b", "c"}), (Row{3, 6}));
  EXPECT_EQ(run("Min", {"a", "b", "c"}), (Row{1, -4}));
  EXPECT_EQ(run("Sum", {"a", "b", "c"}), (Row{6, 5}));
  EXPECT_THAT(run("Mean", {"a", "b", "c"}), Pointwise(DoubleNear(1e-6), Row{2, 5.0 / 3}));
  EXPECT_EQ(run("Mean", {"a", "b"}), (Row{1.5, 1}));
  EXPECT_EQ(run("Mean", {"a"}), (Row{1, -4}));
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
}

}  // namespace
}  // namespace lathe
