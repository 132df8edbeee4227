// Convolutions of integers of 8 bits: which are filled up, which are added up in f32, and that they give the
// same.
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
constexpr int kI32 = onnx::TensorProto_DataType_INT32;

struct ConvolutionCase {
  int64_t channels = 4;
  int64_t groups = 1;
  int64_t maps = 8;
  int zero = 0;
  int64_t kernel = 3;
  int32_t bias = 0;  // of each map; 0: none
  bool is_read_as_integers = false;
};

// x of u8 -> QLinearConv of weights of i8 -> y; or ConvInteger, whose sums are the output.
OnnxModel model_of(const ConvolutionCase& c) {
  OnnxModel model;
  Rng rng(11);
  const Shape weight{c.maps, c.channels / c.groups, c.kernel, c.kernel};
  model.input("x", {1, c.channels, 9, 9}, kU8);
  onnx::TensorProto& numbers = *model.proto.mutable_graph()->add_initializer();
  numbers.set_name("w");
  numbers.set_data_type(kI8);
  for (const int64_t extent : weight) numbers.add_dims(extent);
  for (int64_t i = 0; i < elements_of(weight); ++i)
    numbers.add_int32_data(static_cast<int32_t>(rng.between(-128, 127)));
  model.integer("xz", kU8, c.zero).integer("wz", kI8, 0).integer("yz", kU8, 100);
  for (const char* name : {"xs", "ws", "ys"}) model.initializer(name, {}, {name[0] == 'y' ? 9.0F : 0.05F});
  if (c.is_read_as_integers) {
    model.node("c", "ConvInteger", {"x", "w", "xz"}, "y");
  } else {
    std::vector<std::string> inputs{"x", "xs", "xz", "w", "ws", "wz", "ys", "yz"};
    if (c.bias != 0) {
      onnx::TensorProto& bias = *model.proto.mutable_graph()->add_initializer();
      bias.set_name("b");
      bias.set_data_type(kI32);
      bias.add_dims(c.maps);
      for (int64_t m = 0; m < c.maps; ++m) bias.add_int32_data(c.bias);
      inputs.emplace_back("b");
    }
    model.node("c", "QLinearConv", inputs, "y");
  }
  model.attribute("group", c.groups).attribute("pads", {1, 0, 2, 1});
  return model.output("y");
}

// "Pad [1,4,12,10], Conv u8 i8 -> i32": the nodes that pad and convolve.
std::string nodes_of(const ConvolutionCase& c) {
  const OnnxModel model = model_of(c);
  const Graph graph = simplify(import_onnx_bytes(model.bytes(), "m.onnx").value());
  EXPECT_TRUE(verify(graph));
  EXPECT_EQ(to_string(simplify(graph)), to_string(graph));
  run_network(model, random_inputs(graph, 5), 0);  // beside the graph's own evaluation, to the last integer
  std::string text;
  for (const GraphNode& node : graph.nodes) {
    const TensorType& result = graph.tensors[node.output].type;
    if (std::holds_alternative<PadOp>(node.op)) text += fmt::format("Pad {}, ", to_string(result.shape));
    if (!std::holds_alternative<ConvOp>(node.op)) continue;
    text += "Conv";
    for (const TensorId id : node.inputs) text += fmt::format(" {}", to_string(graph.tensors[id].type.dtype));
    text += fmt::format(" -> {}", to_string(result.dtype));
  }
  return text;
}

TEST(IntegerConvolutions, FewChannelsAreFilledUpToGroupsOfFour) {
  EXPECT_EQ(nodes_of({.channels = 3}), "Pad [1,4,12,10], Conv u8 i8 -> i32");
  EXPECT_EQ(nodes_of({.channels = 2, .zero = 7}), "Pad [1,4,12,10], Conv u8 i8 i32 -> i32");
  EXPECT_EQ(nodes_of({.channels = 6, .zero = 255, .kernel = 1}), "Pad [1,8,12,10], Conv u8 i8 i32 -> i32");
  EXPECT_EQ(nodes_of({.channels = 15, .is_read_as_integers = true}), "Pad [1,16,12,10], Conv u8 i8 -> i32");
}

// Whole groups, a single channel, a rest beside many groups, channels in groups.
TEST(IntegerConvolutions, OthersPadThemselves) {
  for (const ConvolutionCase& c : {ConvolutionCase{.channels = 4},
                                   {.channels = 1, .is_read_as_integers = true},
                                   {.channels = 17},
                                   {.channels = 6, .groups = 2}})
    EXPECT_EQ(nodes_of(c), "Conv u8 i8 -> i32") << c.channels;
}

TEST(IntegerConvolutions, OneChannelAMapIsAddedUpInF32) {
  EXPECT_EQ(nodes_of({.channels = 8, .groups = 8}), "Conv u8 i8 -> f32");
  EXPECT_EQ(nodes_of({.channels = 4, .groups = 4, .zero = 128}), "Conv u8 i8 f32 -> f32");
  EXPECT_EQ(nodes_of({.channels = 8, .groups = 8, .kernel = 8}), "Conv u8 i8 -> f32");
  EXPECT_EQ(nodes_of({.channels = 1, .bias = -1000}), "Conv u8 i8 f32 -> f32");
}

// Sums and biases that f32 does not hold, and sums that are read as integers.
TEST(IntegerConvolutions, WhatF32DoesNotHoldStaysInIntegers) {
  EXPECT_EQ(nodes_of({.channels = 8, .groups = 8, .bias = 1 << 24}), "Conv u8 i8 i32 -> i32");
  EXPECT_EQ(nodes_of({.channels = 8, .groups = 8, .is_read_as_integers = true}), "Conv u8 i8 -> i32");
  EXPECT_TRUE(fits_f32(258));
  EXPECT_FALSE(fits_f32(259));
  EXPECT_FALSE(fits_f32(258, 2000));
}

}  // namespace
}  // namespace lathe
