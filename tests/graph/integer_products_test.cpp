// Products of dequantized numbers, computed in integers: what they give, and of which types.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"
#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "graph/simplify.h"

namespace lathe {
namespace {

constexpr int kU8 = onnx::TensorProto_DataType_UINT8;
constexpr int kI8 = onnx::TensorProto_DataType_INT8;

// A model in the form that quantizers write, tensor by tensor.
struct Quantized {
  OnnxModel model;
  Rng rng{3};

  // An initializer of random integers from `least` on, 200 of them.
  void weights(const std::string& name, const Shape& shape, int type, int64_t least) {
    onnx::TensorProto& tensor = *model.proto.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (const int64_t extent : shape) tensor.add_dims(extent);
    for (int64_t i = 0; i < elements_of(shape); ++i)
      tensor.add_int32_data(static_cast<int32_t>(rng.between(least, least + 199)));
  }
  // name.scale and name.zero, of one number.
  void parameters(const std::string& name, float scale, int type, int zero) {
    model.initializer(name + ".scale", {}, {scale}).integer(name + ".zero", type, zero);
  }
  // x -> QuantizeLinear -> DequantizeLinear -> name.
  void through(const std::string& x, const std::string& name, float scale, int type, int zero) {
    parameters(name, scale, type, zero);
    model.node(name + ".q", "QuantizeLinear", {x, name + ".scale", name + ".zero"}, name + ".numbers");
    model.node(name + ".d", "DequantizeLinear", {name + ".numbers", name + ".scale", name + ".zero"}, name);
  }
  // numbers -> DequantizeLinear with a scale for each of `places` along an axis -> name.
  void dequantized(const std::string& numbers, const std::string& name, int64_t places, int64_t axis) {
    std::vector<float> scales;
    for (int64_t i = 0; i < places; ++i) scales.push_back(0.01F + 0.001F * static_cast<float>(i));
    model.initializer(name + ".scale", {places}, scales);
    model.node(name + ".d", "DequantizeLinear", {numbers, name + ".scale"}, name).attribute("axis", axis);
  }
};

// "Conv u8 i8 -> i32", a line a convolution or product of the simplified graph.
std::string products_of(const OnnxModel& model) {
  const Graph graph = simplify(import_onnx_bytes(model.bytes(), "m.onnx").value());
  EXPECT_TRUE(verify(graph));
  std::string text;
  for (const GraphNode& node : graph.nodes) {
    const std::string name = name_of(node.op);
    if (name != "Conv" && name != "MatMul" && name != "Gemm" && name != "MaxPool") continue;
    text += name;
    for (const TensorId id : node.inputs) text += fmt::format(" {}", to_string(graph.tensors[id].type.dtype));
    text += fmt::format(" -> {}\n", to_string(graph.tensors[node.output].type.dtype));
  }
  return text;
}

// What the model gives, computed as it stands and as it is simplified.
void expect_same(const OnnxModel& model) {
  const Graph graph = import_onnx_bytes(model.bytes(), "m.onnx").value();
  run_network(model, random_inputs(graph, 5), 0);
}

// x [1,3,5,5] -> Q, DQ -> Conv of 4 maps by weights of i8, a scale a map, with a bias -> Relu -> y.
Quantized convolution(int type, int zero, const Shape& weight = {4, 3, 3, 3}) {
  Quantized q;
  q.model.input("x", {1, 3, 5, 5}).initializer("b", {4});
  q.through("x", "data", 0.02F, type, zero);
  q.weights("numbers", weight, kI8, -100);
  q.dequantized("numbers", "w", 4, 0);
  q.model.node("c", "Conv", {"data", "w", "b"}, "t").attribute("pads", {1, 1, 0, 2});
  q.model.node("r", "Relu", {"t"}, "y").output("y");
  return q;
}

TEST(IntegerProducts, AConvolutionOfQuantizedNumbersIsOneOfIntegers) {
  for (const auto& [type, zero] : {std::pair{kU8, 0}, {kU8, 120}, {kI8, 0}, {kI8, -7}}) {
    const Quantized q = convolution(type, zero);
    const bool shifts = type == kI8 || zero != 0;  // i8 becomes u8, with a zero point of 128 more
    EXPECT_EQ(products_of(q.model), shifts ? "Conv u8 i8 i32 -> i32\n" : "Conv u8 i8 -> i32\n");
    expect_same(q.model);
  }
}

// The zero point of what becomes unsigned and the half that is added for it are one number, none where they
// are 0.
TEST(IntegerProducts, AZeroPointIsAddedWithTheHalf) {
  const auto sums_in_front_of_casts = [](int zero) {
    const Graph graph = simplify(import_onnx_bytes(convolution(kI8, zero).model.bytes(), "m.onnx").value());
    std::string text;
    for (const GraphNode& node : graph.nodes) {
      const auto* cast = std::get_if<CastOp>(&node.op);
      if (cast == nullptr || cast->to != DType::u8) continue;
      for (const GraphNode& other : graph.nodes) {
        if (other.output != node.inputs[0]) continue;
        text += name_of(other.op);
        if (other.inputs.size() > 1) text += fmt::format(" {}", values_of(graph.tensors[other.inputs[1]])[0]);
      }
    }
    return text;
  };
  EXPECT_EQ(sums_in_front_of_casts(-7), "Add 121");
  EXPECT_EQ(sums_in_front_of_casts(0), "Add 128");
  EXPECT_EQ(sums_in_front_of_casts(-128), "Round");
}

TEST(IntegerProducts, SoIsAProductOfTwoQuantizedTensors) {
  for (const auto& [left, right] : {std::pair{0, 0}, {9, 0}, {0, 130}, {120, 3}}) {
    Quantized q;
    q.model.input("x", {2, 4, 6}).input("v", {2, 6, 5});
    q.through("x", "a", 0.01F, kU8, left);
    q.through("v", "b", 0.02F, kU8, right);
    q.model.node("m", "MatMul", {"a", "b"}, "y").output("y");
    EXPECT_EQ(products_of(q.model), "MatMul u8 u8 -> i32\n");
    expect_same(q.model);
  }
}

TEST(IntegerProducts, AGemmIsTurnedScaledAndBiased) {
  for (const bool turns : {false, true}) {
    Quantized q;
    q.model.input("x", {3, 6}).initializer("c", {5});
    q.through("x", "a", 0.01F, kI8, 11);
    q.weights("numbers", turns ? Shape{5, 6} : Shape{6, 5}, kI8, -90);
    q.dequantized("numbers", "w", 5, turns ? 0 : 1);
    q.model.node("g", "Gemm", {"a", "w", "c"}, "y").attribute("transB", turns ? 1 : 0);
    q.model.attribute("alpha", 0.5).output("y");
    EXPECT_EQ(products_of(q.model), "MatMul u8 i8 -> i32\n");
    expect_same(q.model);
  }
}

// As residual blocks have it: the sum reads what the convolution reads.
TEST(IntegerProducts, OthersMayReadTheNumbersToo) {
  Quantized q = convolution(kI8, -7, {4, 3, 2, 2});
  q.model.node("add", "ReduceSum", {"data"}, "s").attribute("keepdims", 1);
  q.model.node("sum", "Add", {"y", "s"}, "z").output("z");
  EXPECT_EQ(products_of(q.model), "Conv u8 i8 i32 -> i32\n");
  expect_same(q.model);
}

TEST(IntegerProducts, TheLargestNumberIsTheLargestReal) {
  Quantized q;
  q.model.input("x", {1, 2, 6, 6});
  q.through("x", "data", 0.01F, kI8, 5);
  q.model.node("p", "MaxPool", {"data"}, "y")
      .attribute("kernel_shape", {3, 3})
      .attribute("pads", {1, 1, 1, 1});
  q.model.output("y");
  EXPECT_EQ(products_of(q.model), "MaxPool u8 -> u8\n");
  expect_same(q.model);
}

// A bias of whole multiples of the scales' product, and a scale that divides what a rectifier leaves: all is
// done as QLinearConv does it, so that results halfway between two numbers are the same ones.
TEST(IntegerProducts, GivesTheNumbersThatQLinearConvGives) {
  const auto quantized_input = [] {
    Quantized q;
    q.model.input("x", {1, 3, 9, 9});
    q.parameters("data", 0.03F, kU8, 121);
    q.parameters("w", 0.007F, kI8, 0);
    q.parameters("y", 0.9F, kU8, 0);
    q.weights("numbers", {4, 3, 3, 3}, kI8, -100);
    q.weights("bias", {4}, onnx::TensorProto_DataType_INT32, -100);
    q.model.initializer("bias.scale", {}, {0.03F * 0.007F});
    q.model.node("x.q", "QuantizeLinear", {"x", "data.scale", "data.zero"}, "x.numbers");
    return q;
  };
  Quantized apart = quantized_input();
  apart.model.node("x.d", "DequantizeLinear", {"x.numbers", "data.scale", "data.zero"}, "data");
  apart.model.node("w.d", "DequantizeLinear", {"numbers", "w.scale", "w.zero"}, "w");
  apart.model.node("b.d", "DequantizeLinear", {"bias", "bias.scale"}, "b");
  apart.model.node("c", "Conv", {"data", "w", "b"}, "t").node("r", "Relu", {"t"}, "u");
  apart.model.node("u.q", "QuantizeLinear", {"u", "y.scale", "y.zero"}, "n");
  apart.model.node("u.d", "DequantizeLinear", {"n", "y.scale", "y.zero"}, "y").output("y");
  Quantized joined = quantized_input();
  joined.model.node(
      "c", "QLinearConv",
      {"x.numbers", "data.scale", "data.zero", "numbers", "w.scale", "w.zero", "y.scale", "y.zero", "bias"},
      "n");
  joined.model.node("u.d", "DequantizeLinear", {"n", "y.scale", "y.zero"}, "y").output("y");
  EXPECT_EQ(products_of(apart.model), "Conv u8 i8 i32 -> i32\n");
  const Graph graph = simplify(import_onnx_bytes(apart.model.bytes(), "m.onnx").value());
  const Graph expected = simplify(import_onnx_bytes(joined.model.bytes(), "m.onnx").value());
  const std::vector<Values> inputs = random_inputs(graph, 5);
  EXPECT_EQ(run_partition(graph, partition(graph).value(), inputs)[0].data,
            run_partition(expected, partition(expected).value(), inputs)[0].data);
}

// Zero points of weights, a scale for each channel that is summed over, 16 bits, sums beyond 2^31.
TEST(IntegerProducts, WhatHasNoSuchFormStaysInReals) {
  const auto weights_of = [](auto write) {
    Quantized q;
    q.model.input("x", {3, 6});
    q.through("x", "a", 0.01F, kU8, 3);
    write(q);
    q.model.node("m", "MatMul", {"a", "w"}, "y").output("y");
    expect_same(q.model);
    return products_of(q.model);
  };
  EXPECT_EQ(weights_of([](Quantized& q) {
              q.weights("numbers", {6, 5}, kI8, -90);
              q.dequantized("numbers", "w", 6, 0);
            }),
            "MatMul f32 f32 -> f32\n");
  EXPECT_EQ(weights_of([](Quantized& q) {
              q.weights("numbers", {6, 5}, onnx::TensorProto_DataType_INT16, 1000);
              q.parameters("w", 0.01F, onnx::TensorProto_DataType_INT16, 0);
              q.model.node("w.d", "DequantizeLinear", {"numbers", "w.scale", "w.zero"}, "w");
            }),
            "MatMul f32 f32 -> f32\n");
  Quantized q = convolution(kU8, 3);
  q.model.proto.mutable_graph()->mutable_node(2)->add_input("w.zero");
  q.weights("w.zero", {4}, kI8, 1);
  EXPECT_EQ(products_of(q.model), "Conv f32 f32 f32 -> f32\n");
  expect_same(q.model);
  Quantized longest;
  longest.model.input("x", {1, 40000});
  longest.through("x", "a", 0.01F, kU8, 3);
  longest.weights("numbers", {40000, 1}, kI8, -100);
  longest.parameters("w", 0.01F, kI8, 0);
  longest.model.node("w.d", "DequantizeLinear", {"numbers", "w.scale", "w.zero"}, "w");
  longest.model.node("m", "MatMul", {"a", "w"}, "y").output("y");
  EXPECT_EQ(products_of(longest.model), "MatMul f32 f32 -> f32\n");
}

// A column of as many numbers as a row has: it is added to rows, not to columns.
TEST(IntegerProducts, AColumnIsNoBiasOfTheColumns) {
  Quantized q;
  q.model.input("x", {4, 6}).initializer("c", {4, 1}, {0.0002F, -0.0004F, 0.0006F, 0.2F});
  q.through("x", "a", 0.01F, kU8, 3);
  q.weights("numbers", {6, 4}, kI8, -90);
  q.parameters("w", 0.01F, kI8, 0);
  q.model.node("w.d", "DequantizeLinear", {"numbers", "w.scale", "w.zero"}, "w");
  q.model.node("g", "Gemm", {"a", "w", "c"}, "y").output("y");
  EXPECT_EQ(products_of(q.model), "MatMul u8 i8 -> i32\n");
  expect_same(q.model);
}

// No number of 8 bits stands for 0 beside the image.
TEST(IntegerProducts, AZeroPointBeyondTheNumbersStaysOneOfReals) {
  Quantized q;
  q.model.input("x", {1, 3, 5, 5}, kU8).initializer("s", {}, {0.02F}).integer("z", 6, 300);
  q.model.node("w8", "Cast", {"x"}, "wide").attribute("to", 6).node("less", "Sub", {"wide", "z"}, "d");
  q.model.node("real", "Cast", {"d"}, "f").attribute("to", 1).node("scaled", "Mul", {"f", "s"}, "data");
  q.weights("numbers", {4, 3, 3, 3}, kI8, -100);
  q.dequantized("numbers", "w", 4, 0);
  q.model.node("c", "Conv", {"data", "w"}, "y").attribute("pads", {1, 1, 1, 1}).output("y");
  EXPECT_EQ(products_of(q.model), "Conv f32 f32 -> f32\n");
}

// A cast of what is not rounded cuts off: -0.5 is 0, and 127.5 would be 127.
TEST(IntegerProducts, WhatIsCutOffStaysSigned) {
  Quantized q;
  q.model.input("x", {3, 6}).initializer("scale", {}, {0.5F});
  q.model.node("c", "Cast", {"x"}, "numbers").attribute("to", int64_t{kI8});
  q.model.node("d", "DequantizeLinear", {"numbers", "scale"}, "a");
  q.weights("n", {6, 5}, kI8, -90);
  q.dequantized("n", "w", 5, 1);
  q.model.node("m", "MatMul", {"a", "w"}, "y").output("y");
  EXPECT_EQ(products_of(q.model), "MatMul i8 i8 -> i32\n");
  expect_same(q.model);
}

}  // namespace
}  // namespace lathe
