// Nodes on quantized tensors beside their formulas, number by number.
#include "graph/onnx/nodes/quantized_pointwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/rng.h"
#include "expr/print.h"
#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "graph/simplify.h"
#include "network/partition.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

constexpr int kU8 = onnx::TensorProto_DataType_UINT8, kI8 = onnx::TensorProto_DataType_INT8;

struct Quantized {
  float scale;
  int32_t zero;
  int type = kU8;

  double real(double number) const { return (number - zero) * static_cast<double>(scale); }
  double rounded(double value) const {
    const double number = std::nearbyint(value / static_cast<double>(scale)) + zero;
    return type == kU8 ? std::clamp(number, 0.0, 255.0) : std::clamp(number, -128.0, 127.0);
  }
};

constexpr Quantized kA{0.0213F, 120}, kB{0.01171F, 77}, kResult{0.05479F, 130};

void add_parameters(OnnxModel& model, const std::string& name, const Quantized& q) {
  model.initializer(name + "s", {}, {q.scale}).integer(name + "z", q.type, q.zero);
}

Values drawn(const Shape& shape, uint64_t seed) {
  Rng rng(seed);
  Values values{shape, {}, DType::u8};
  for (int64_t i = 0; i < elements_of(shape); ++i)
    values.data.push_back(static_cast<double>(rng.between(0, 255)));
  return values;
}

// Off by one where f32 and double round a tie apart.
void expect_near(const Numbers& actual, const Numbers& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  size_t apart = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_LE(std::abs(actual[i] - expected[i]), 1) << i;
    apart += actual[i] != expected[i] ? 1 : 0;
  }
  EXPECT_LE(apart, actual.size() / 50);
}

TEST(QuantizedPointwise, PairsBroadcastBetweenTheirScales) {
  const Shape shape{4, 50}, row{50};
  for (const bool adds : {true, false}) {
    OnnxModel model;
    model.input("a", shape, kU8).input("b", row, kU8);
    for (const auto& [name, q] : {std::pair("a", kA), std::pair("b", kB), std::pair("c", kResult)})
      add_parameters(model, name, q);
    model.runtime_node("n", adds ? "QLinearAdd" : "QLinearMul",
                       {"a", "as", "az", "b", "bs", "bz", "cs", "cz"}, "y");
    model.output("y");
    const Values a = drawn(shape, 1), b = drawn(row, 2);
    Numbers expected;
    for (size_t i = 0; i < a.data.size(); ++i) {
      const double x = kA.real(a.data[i]), y = kB.real(b.data[i % 50]);
      expected.push_back(kResult.rounded(adds ? x + y : x * y));
    }
    expect_near(run_network(model, {a, b}).data, expected);
  }
}

// Two multiply-adds, so that what lies halfway between two numbers goes where ONNX Runtime has it: of 2.6
// million pairs, 40 draws of scales and zero points, all are the same.
TEST(QuantizedPointwise, ASumIsTwoMultiplyAdds) {
  OnnxModel model;
  model.input("a", {4}, kU8).input("b", {4}, kU8);
  for (const auto& [name, q] : {std::pair("a", kA), std::pair("b", kB), std::pair("c", kResult)})
    add_parameters(model, name, q);
  model.runtime_node("n", "QLinearAdd", {"a", "as", "az", "b", "bs", "bz", "cs", "cz"}, "y").output("y");
  const Partition tasks = partition(simplify(import_onnx_bytes(model.bytes(), "m.onnx").value())).value();
  ASSERT_EQ(tasks.tasks.size(), 1U);
  EXPECT_EQ(to_string(tasks.tasks[0].dag),
            "input X0[4] u8\ninput X1[4] u8\ninput W0[]\ninput W1[]\ninput W2[]\n"
            "out[i:4] = u8(round(f32(i32(X1[i])) * W2[] + (f32(i32(X0[i])) * W0[] + W1[])))\n");
}

// A mask times the lowest number of f32, which its scale rounds to minus infinity: 0 where the mask is 0.
TEST(QuantizedPointwise, AProductOfNumbersBeyondF32) {
  OnnxModel model;
  model.input("a", {3}, kU8).initializer("as", {}, {1.0F}).integer("az", kU8, 0);
  model.integer("b", kU8, 0).integer("bz", kU8, 255).initializer("bs", {}, {1.3344408e36F});
  model.initializer("cs", {}, {1.3344408e36F}).integer("cz", kU8, 255);
  model.runtime_node("n", "QLinearMul", {"a", "as", "az", "b", "bs", "bz", "cs", "cz"}, "y").output("y");
  EXPECT_EQ(run_network(model, {{{3}, {0, 1, 0}, DType::u8}}).data, (Numbers{255, 0, 255}));
}

OnnxModel unary_model(const char* type, const Shape& shape, const Quantized& result) {
  OnnxModel model;
  model.input("a", shape, kU8);
  add_parameters(model, "a", kA);
  add_parameters(model, "y", result);
  return model.runtime_node("n", type, {"a", "as", "az", "ys", "yz"}, "y").output("y");
}

TEST(QuantizedPointwise, FunctionsOfOneTensor) {
  const Values a = drawn({300}, 3);
  const auto expected = [&](const Quantized& result, const std::function<double(double)>& f) {
    Numbers numbers;
    for (const double number : a.data) numbers.push_back(result.rounded(f(kA.real(number))));
    return numbers;
  };
  const Quantized byte{1 / 256.0F, 0}, signed_byte{0.0307F, -5, kI8};
  expect_near(run_network(unary_model("QLinearSigmoid", {300}, byte), {a}).data,
              expected(byte, [](double x) { return 1 / (1 + std::exp(-x)); }));
  expect_near(
      run_network(unary_model("QLinearLeakyRelu", {300}, signed_byte).attribute("alpha", 0.25), {a}).data,
      expected(signed_byte, [](double x) { return x < 0 ? x / 4 : x; }));
}

TEST(QuantizedPointwise, SoftmaxAddsUpToOne) {
  const Quantized byte{1 / 256.0F, 0};
  const Values a = drawn({6, 40}, 4);
  const Numbers weights =
      run_network(unary_model("QLinearSoftmax", {6, 40}, byte).attribute("axis", 1), {a}).data;
  for (size_t row = 0; row < 6; ++row) {
    double sum = 0, given = 0;
    for (size_t i = 0; i < 40; ++i) sum += std::exp(kA.real(a.data[row * 40 + i]));
    for (size_t i = 0; i < 40; ++i) {
      given += weights[row * 40 + i] / 256;
      EXPECT_LE(std::abs(weights[row * 40 + i] - byte.rounded(std::exp(kA.real(a.data[row * 40 + i])) / sum)),
                1);
    }
    EXPECT_NEAR(given, 1, 20.0 / 256);
  }
}

TEST(QuantizedPointwise, PoolsAverageWhatNumbersStandFor) {
  const Values a = drawn({2, 3, 4, 4}, 5);
  const Numbers global =
      run_network(unary_model("QLinearGlobalAveragePool", {2, 3, 4, 4}, kResult), {a}).data;
  OnnxModel pool = unary_model("QLinearAveragePool", {2, 3, 4, 4}, kResult);
  pool.attribute("kernel_shape", {2, 2}).attribute("strides", {2, 2});
  const Numbers windows = run_network(pool, {a}).data;
  Numbers expected_global, expected_windows;
  const auto real_at = [&](size_t plane, size_t y, size_t x) {
    return kA.real(a.data[(plane * 4 + y) * 4 + x]);
  };
  for (size_t plane = 0; plane < 6; ++plane) {
    double sum = 0;
    for (size_t y = 0; y < 4; y += 2)
      for (size_t x = 0; x < 4; x += 2) {
        const double window = real_at(plane, y, x) + real_at(plane, y, x + 1) + real_at(plane, y + 1, x) +
                              real_at(plane, y + 1, x + 1);
        expected_windows.push_back(kResult.rounded(window / 4));
        sum += window;
      }
    expected_global.push_back(kResult.rounded(sum / 16));
  }
  expect_near(global, expected_global);
  expect_near(windows, expected_windows);
  EXPECT_EQ(import_error(
                unary_model("QLinearGlobalAveragePool", {2, 4, 4, 3}, kResult).attribute("channels_last", 1)),
            "node 'n' (QLinearGlobalAveragePool): attribute 'channels_last' is 1, and Lathe supports 0");
}

TEST(QuantizedPointwise, MeansAreOfWhatNumbersStandFor) {
  const Values a = drawn({3, 8}, 9);
  OnnxModel model = unary_model("QLinearReduceMean", {3, 8}, kResult);
  const Numbers means = run_network(model.attribute("axes", {1}), {a}).data;
  Numbers expected;
  for (size_t row = 0; row < 3; ++row) {
    double sum = 0;
    for (size_t i = 0; i < 8; ++i) sum += kA.real(a.data[row * 8 + i]);
    expected.push_back(kResult.rounded(sum / 8));
  }
  expect_near(means, expected);
}

TEST(QuantizedPointwise, PartsAreJoinedInTheResultsScale) {
  OnnxModel model;
  model.input("a", {2, 30}, kU8).input("b", {2, 20}, kU8);
  for (const auto& [name, q] : {std::pair("a", kA), std::pair("b", kB), std::pair("y", kResult)})
    add_parameters(model, name, q);
  model.runtime_node("n", "QLinearConcat", {"ys", "yz", "a", "as", "az", "b", "bs", "bz"}, "y").output("y");
  model.attribute("axis", 1);
  const Values a = drawn({2, 30}, 6), b = drawn({2, 20}, 7);
  Numbers expected;
  for (size_t row = 0; row < 2; ++row) {
    for (size_t i = 0; i < 30; ++i) expected.push_back(kResult.rounded(kA.real(a.data[row * 30 + i])));
    for (size_t i = 0; i < 20; ++i) expected.push_back(kResult.rounded(kB.real(b.data[row * 20 + i])));
  }
  expect_near(run_network(model, {a, b}).data, expected);
  model.proto.mutable_graph()->mutable_node(0)->add_input("a");
  EXPECT_EQ(import_error(model),
            "node 'n' (QLinearConcat): it has 9 inputs, and must have two and three for each part");
}

TEST(QuantizedPointwise, ChoosesBetweenScales) {
  OnnxModel model;
  model.input("c", {60}, onnx::TensorProto_DataType_BOOL).input("a", {60}, kU8).input("b", {60}, kU8);
  for (const auto& [name, q] : {std::pair("a", kA), std::pair("b", kB), std::pair("y", kResult)})
    add_parameters(model, name, q);
  model.runtime_node("n", "QLinearWhere", {"c", "a", "as", "az", "b", "bs", "bz", "ys", "yz"}, "y")
      .output("y");
  Values c{{60}, {}, DType::boolean};
  for (int i = 0; i < 60; ++i) c.data.push_back(i % 3 == 0 ? 1 : 0);
  const Values a = drawn({60}, 8), b = drawn({60}, 9);
  Numbers expected;
  for (size_t i = 0; i < 60; ++i)
    expected.push_back(kResult.rounded(c.data[i] != 0 ? kA.real(a.data[i]) : kB.real(b.data[i])));
  expect_near(run_network(model, {c, a, b}).data, expected);
}

}  // namespace
}  // namespace lathe
