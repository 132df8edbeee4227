// Quantized numbers that are moved between a DequantizeLinear and a QuantizeLinear: of which type they are
// then.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "graph/simplify.h"

namespace lathe {
namespace {

constexpr int kU8 = onnx::TensorProto_DataType_UINT8;
constexpr int kI8 = onnx::TensorProto_DataType_INT8;

// x -> Q, DQ -> "a"; what a test moves it by -> "t"; t -> Q, DQ -> y.
struct MovedModel {
  OnnxModel model = {};
  float before = 0.03F, after = 0.03F;
  int zero_before = 5, zero_after = 5;
  int type = kU8;

  void quantize(const std::string& x, const std::string& y, float scale, int zero) {
    model.initializer(y + ".scale", {}, {scale}).integer(y + ".zero", type, zero);
    model.node(y + ".q", "QuantizeLinear", {x, y + ".scale", y + ".zero"}, y + ".numbers");
    model.node(y + ".d", "DequantizeLinear", {y + ".numbers", y + ".scale", y + ".zero"}, y);
  }
  // What `move` writes reads "a" and gives "t".
  template <class Move>
  OnnxModel moved(const Shape& shape, Move move) {
    model.input("x", shape);
    quantize("x", "a", before, zero_before);
    move(model);
    quantize("t", "y", after, zero_after);
    return model.output("y");
  }
};

// How many nodes of the simplified graph round, and the types of what these operators read.
std::string rounded_and_read(const OnnxModel& model, const std::vector<std::string>& operators) {
  const Graph graph = simplify(import_onnx_bytes(model.bytes(), "m.onnx").value());
  EXPECT_TRUE(verify(graph));
  int64_t roundings = 0;
  std::string reads;
  for (const GraphNode& node : graph.nodes) {
    const auto* map = std::get_if<MapOp>(&node.op);
    roundings += map != nullptr && map->function == MapFunction::round ? 1 : 0;
    if (std::ranges::find(operators, name_of(node.op)) == operators.end()) continue;
    reads += fmt::format(", {} {}", name_of(node.op), to_string(graph.tensors[node.inputs[0]].type.dtype));
  }
  return fmt::format("{} rounded{}", roundings, reads);
}

void expect_same(const OnnxModel& model) {
  run_network(model, random_inputs(import_onnx_bytes(model.bytes(), "m.onnx").value(), 5), 0);
}

TEST(KeepIntegers, MovesTheNumbersThemselves) {
  for (const auto& [type, zero] : {std::pair{kU8, 5}, {kU8, 0}, {kI8, -9}, {kI8, 0}}) {
    MovedModel made{.zero_before = zero, .zero_after = zero, .type = type};
    const OnnxModel model = made.moved({2, 3, 4}, [](OnnxModel& m) {
      m.node("p", "Transpose", {"a"}, "b").attribute("perm", {1, 2, 0});
      m.integers("shape", {3, 8}).node("r", "Reshape", {"b", "shape"}, "t");
    });
    EXPECT_EQ(rounded_and_read(model, {"Transpose"}), "1 rounded, Transpose u8");
    expect_same(model);
  }
}

// Each of a Concat's operands, with the same scale; the largest number stands for the largest real.
TEST(KeepIntegers, JoinsThemAndTakesTheLargest) {
  MovedModel made;
  const OnnxModel model = made.moved({1, 2, 4, 4}, [&](OnnxModel& m) {
    m.input("v", {1, 2, 4, 4});
    made.quantize("v", "b", 0.03F, 5);
    m.node("c", "Concat", {"a", "b"}, "joined").attribute("axis", 1);
    m.node("m", "MaxPool", {"joined"}, "t").attribute("kernel_shape", {2, 2}).attribute("pads", {1, 1, 0, 0});
  });
  EXPECT_EQ(rounded_and_read(model, {"Concat", "MaxPool"}), "2 rounded, Concat u8, MaxPool u8");
  expect_same(model);
}

// A table of numbers, looked up, is one of bytes.
TEST(KeepIntegers, LooksUpNumbersOfATable) {
  for (const int zero : {0, 7}) {
    MovedModel made{.zero_after = zero};
    OnnxModel& m = made.model;
    m.input("x", {5}, onnx::TensorProto_DataType_INT64);
    onnx::TensorProto& table = *m.proto.mutable_graph()->add_initializer();
    table.set_name("numbers");
    table.set_data_type(kU8);
    table.add_dims(6);
    table.add_dims(4);  // more reals than are folded when a model is read
    for (int i = 0; i < 24; ++i) table.add_int32_data(i * 10);
    m.initializer("s", {}, {made.after}).integer("z", kU8, zero);
    m.node("d", "DequantizeLinear", {"numbers", "s", "z"}, "a").node("g", "Gather", {"a", "x"}, "t");
    made.quantize("t", "y", made.after, zero);
    m.output("y");
    EXPECT_EQ(rounded_and_read(m, {"Gather", "GatherBy"}).substr(0, 9), "0 rounded");
    const Values looked_up = run_network(m, {{{5}, {0, 5, 3, 2, 1}, DType::i64}});
    EXPECT_FLOAT_EQ(static_cast<float>(looked_up.data[4]), made.after * static_cast<float>(200 - zero));
  }
}

TEST(KeepIntegers, AnotherScaleOrZeroPointRoundsAnew) {
  const auto transpose = [](OnnxModel& m) { m.node("p", "Transpose", {"a"}, "t"); };
  MovedModel scaled{.after = 0.031F};
  const OnnxModel other_scale = scaled.moved({2, 3}, transpose);
  EXPECT_EQ(rounded_and_read(other_scale, {}), "2 rounded");
  expect_same(other_scale);
  MovedModel shifted{.zero_after = 6};
  EXPECT_EQ(rounded_and_read(shifted.moved({2, 3}, transpose), {}), "2 rounded");
  // What is computed between them is real.
  MovedModel computed;
  const OnnxModel squared = computed.moved({2, 3}, [](OnnxModel& m) { m.node("m", "Mul", {"a", "a"}, "t"); });
  EXPECT_EQ(rounded_and_read(squared, {}), "2 rounded");
  expect_same(squared);
}

}  // namespace
}  // namespace lathe
