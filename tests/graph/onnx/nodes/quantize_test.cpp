#include "graph/onnx/nodes/quantize.h"

#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

// An initializer of integers, one for each element of the shape.
OnnxModel& small_integers(OnnxModel& model, const std::string& name, int type, const Shape& shape,
                          const std::vector<int>& values) {
  onnx::TensorProto& tensor = *model.proto.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const int64_t extent : shape) tensor.add_dims(extent);
  for (const int value : values) tensor.add_int32_data(value);
  return model;
}

OnnxModel quantize_model(const Shape& shape, int type, int zero) {
  OnnxModel model;
  model.operator_set(13).input("x", shape).initializer("s", {}, {0.5F});
  small_integers(model, "z", type, {}, {zero});
  model.node("n", "QuantizeLinear", {"x", "s", "z"}, "y").output("y");
  return model;
}

// Halves go to the even number, and what lies beyond the type to its end.
TEST(OnnxQuantize, RoundsAndSaturates) {
  const Values x{{7}, {0, 0.25, 0.75, -0.75, 100, -100, 1e9}};
  EXPECT_EQ(run_network(quantize_model({7}, onnx::TensorProto_DataType_UINT8, 10), {x}).data,
            (Numbers{10, 10, 12, 8, 210, 0, 255}));
  EXPECT_EQ(run_network(quantize_model({7}, onnx::TensorProto_DataType_INT8, -3), {x}).data,
            (Numbers{-3, -3, -1, -5, 127, -128, 127}));
  EXPECT_EQ(run_network(quantize_model({7}, onnx::TensorProto_DataType_INT16, 0), {x}).data,
            (Numbers{0, 0, 2, -2, 200, -200, 32767}));
}

TEST(OnnxQuantize, WithoutAZeroPointGivesU8OrTheTypeThatIsAskedFor) {
  OnnxModel model;
  model.operator_set(21).input("x", {2}).initializer("s", {1}, {2});
  model.node("n", "QuantizeLinear", {"x", "s"}, "y").output("y");
  EXPECT_EQ(run_network(model, {{{2}, {600, -4}}}).data, (Numbers{255, 0}));
  model.attribute("output_dtype", onnx::TensorProto_DataType_INT8);
  EXPECT_EQ(run_network(model, {{{2}, {600, -4}}}).data, (Numbers{127, -2}));
}

// Of floats there is no whole number between; integers of fewer bits end at their own ends.
TEST(OnnxQuantize, ToAndFromCodes) {
  constexpr int kF8 = 17, kI4 = 22, kU4 = 21;
  const auto quantised = [](int type, int zero) {
    OnnxModel model;
    model.operator_set(21).input("x", {5}).initializer("s", {}, {0.5F});
    small_integers(model, "z", type, {}, {zero});
    model.node("n", "QuantizeLinear", {"x", "s", "z"}, "q")
        .node("m", "DequantizeLinear", {"q", "s", "z"}, "y");
    return std::move(model.output("q").output("y"));
  };
  const Values x{{5}, {0, 0.53, -0.75, 100, -1e9}};
  EXPECT_EQ(run_network(quantised(kF8, 0), {x}).data, (Numbers{0, 0x38, 0xbc, 0x74, 0xfe}));
  EXPECT_EQ(run_network(quantised(kF8, 0), {x}, 1).data, (Numbers{0, 0.5, -0.75, 96, -224}));
  EXPECT_EQ(run_network(quantised(kI4, 1), {x}).data, (Numbers{1, 2, -1, 7, -8}));
  EXPECT_EQ(run_network(quantised(kI4, 1), {x}, 1).data, (Numbers{0, 0.5, -1, 3, -4.5}));
  EXPECT_EQ(run_network(quantised(kU4, 3), {x}).data, (Numbers{3, 4, 1, 15, 0}));
}

TEST(OnnxQuantize, ScalesLieAlongAnAxis) {
  OnnxModel model;
  model.operator_set(13).input("x", {1, 2, 2}).initializer("s", {2}, {1, 0.5F});
  small_integers(model, "z", onnx::TensorProto_DataType_UINT8, {2}, {0, 100});
  model.node("n", "QuantizeLinear", {"x", "s", "z"}, "q").node("m", "DequantizeLinear", {"q", "s", "z"}, "y");
  model.output("q").output("y");
  const Values x{{1, 2, 2}, {1, 2.25, 1, -2.2}};
  EXPECT_EQ(run_network(model, {x}).data, (Numbers{1, 2, 102, 96}));
  EXPECT_EQ(run_network(model, {x}, 1).data, (Numbers{1, 2, 1, -2}));
}

// The last block of an axis may be a part.
TEST(OnnxQuantize, ScalesMayBeOfBlocks) {
  OnnxModel model;
  model.operator_set(21).input("x", {2, 3}).initializer("s", {2, 2}, {1, 0.5F, 2, 4});
  small_integers(model, "z", onnx::TensorProto_DataType_UINT8, {2, 2}, {0, 100, 10, 20});
  model.node("n", "QuantizeLinear", {"x", "s", "z"}, "q").attribute("block_size", 2).attribute("axis", 1);
  model.node("m", "DequantizeLinear", {"q", "s", "z"}, "y").attribute("block_size", 2).attribute("axis", -1);
  model.output("q").output("y");
  const Values x{{2, 3}, {1, 2, 3, 4, 6, 8}};
  EXPECT_EQ(run_network(model, {x}).data, (Numbers{1, 2, 106, 12, 13, 22}));
  EXPECT_EQ(run_network(model, {x}, 1).data, x.data);
}

TEST(OnnxQuantize, DifferencesFromTheZeroPointAreExact) {
  OnnxModel model;
  model.operator_set(13).input("x", {3}, onnx::TensorProto_DataType_INT8).initializer("s", {}, {0.25F});
  small_integers(model, "z", onnx::TensorProto_DataType_INT8, {}, {-100});
  model.node("n", "DequantizeLinear", {"x", "s", "z"}, "y").output("y");
  EXPECT_EQ(run_network(model, {Values{{3}, {-128, 0, 127}, DType::i8}}).data, (Numbers{-7, 25, 56.75}));
}

// A scale of f16 gives f16, unless another type is asked for.
TEST(OnnxQuantize, NumbersHaveTheScalesTypeOrTheOneThatIsAskedFor) {
  OnnxModel model;
  model.operator_set(23).input("x", {3}, onnx::TensorProto_DataType_INT8);
  model.input("s", {}, onnx::TensorProto_DataType_FLOAT16);
  model.node("n", "DequantizeLinear", {"x", "s"}, "y").output("y");
  const auto type = [&] {
    const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
    return graph ? to_string(graph->tensor(graph->outputs[0]).type) : graph.error().message;
  };
  EXPECT_EQ(type(), "f16[3]");
  model.attribute("output_dtype", onnx::TensorProto_DataType_FLOAT);
  EXPECT_EQ(type(), "f32[3]");
}

TEST(OnnxQuantize, TheDynamicOneGivesItsScaleAndZeroPoint) {
  OnnxModel model;
  model.operator_set(11).input("x", {2, 3});
  model.node("n", "DynamicQuantizeLinear", {"x"}, "y").gives("s").gives("z");
  model.output("y").output("s").output("z");
  const Values x{{2, 3}, {-51, 0, 204, 1, 2, 0.4}};
  EXPECT_EQ(run_network(model, {x}).data, (Numbers{0, 51, 255, 52, 53, 51}));
  EXPECT_EQ(run_network(model, {x}, 1).data, Numbers{1});
  EXPECT_EQ(run_network(model, {x}, 2).data, Numbers{51});
  const Values positive{{2, 3}, {51, 102, 255, 51, 51, 51}};
  EXPECT_EQ(run_network(model, {positive}).data, (Numbers{51, 102, 255, 51, 51, 51}));
}

TEST(OnnxQuantize, NamesWhatItCannotTake) {
  OnnxModel model;
  model.operator_set(21).input("x", {1, 4}).initializer("s", {1, 2}, {1, 2});
  model.node("n", "QuantizeLinear", {"x", "s"}, "y").output("y");
  EXPECT_EQ(
      import_error(model),
      "node 'n' (QuantizeLinear): input 1 has shape [1,2], and the data [1,4] has 4 places along axis 1");
  model.attribute("block_size", 3).attribute("axis", 0);
  EXPECT_EQ(
      import_error(model),
      "node 'n' (QuantizeLinear): input 1 has shape [1,2], and by blocks of 3 along axis 0 of [1,4] must "
      "have [1,4]");
}

}  // namespace
}  // namespace lathe
