// Pad in each mode: the reference against values by hand, and the network against the reference.
#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

// Pads x [2,3] by these, all fronts first.
OnnxModel pad_model(const char* mode, const std::vector<int64_t>& pads) {
  OnnxModel model;
  model.input("x", {2, 3}).integers("pads", pads).initializer("value", {}, {0.5F});
  model.node("n", "Pad", {"x", "pads", "value"}, "y").attribute("mode", mode).output("y");
  return model;
}

TEST(Pad, FillsWithAConstant) {
  const Values y = run_network(pad_model("constant", {1, 0, 0, 2}), {numbered({2, 3})});
  EXPECT_EQ(y.shape, (Shape{3, 5}));
  EXPECT_EQ(y.data, (std::vector<double>{.5, .5, .5, .5, .5, 1, 2, 3, .5, .5, 4, 5, 6, .5, .5}));
}

TEST(Pad, CutsWhereAPadIsNegative) {
  EXPECT_EQ(run_network(pad_model("constant", {0, -1, 1, -1}), {numbered({2, 3})}).data,
            (std::vector<double>{2, 5, .5}));
}

TEST(Pad, RepeatsTheEdge) {
  EXPECT_EQ(run_network(pad_model("edge", {1, 2, 0, 1}), {numbered({2, 3})}).data,
            (std::vector<double>{1, 1, 1, 2, 3, 3, 1, 1, 1, 2, 3, 3, 4, 4, 4, 5, 6, 6}));
}

TEST(Pad, ReflectsAtTheEdge) {
  EXPECT_EQ(run_network(pad_model("reflect", {0, 2, 1, 1}), {numbered({2, 3})}).data,
            (std::vector<double>{3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5, 3, 2, 1, 2, 3, 2}));
}

TEST(Pad, CopiesWhereThereIsNothingToPad) {
  for (const char* mode : {"constant", "edge", "reflect"})
    EXPECT_EQ(run_network(pad_model(mode, {0, 0, 0, 0}), {numbered({2, 3})}).data, numbered({2, 3}).data);
}

TEST(Pad, TakesAttributesInOldOperatorSetsAndAxesInNewOnes) {
  OnnxModel old;
  old.operator_set(9).input("x", {2, 3}).node("n", "Pad", {"x"}, "y").output("y");
  old.attribute("pads", {0, 1, 0, 0}).attribute("value", -1.0);
  EXPECT_EQ(run_network(old, {numbered({2, 3})}).data, (std::vector<double>{-1, 1, 2, 3, -1, 4, 5, 6}));
  OnnxModel axes;
  axes.operator_set(18).input("x", {2, 3}).integers("pads", {1, 0}).integers("axes", {-1});
  axes.node("n", "Pad", {"x", "pads", "", "axes"}, "y").output("y");
  EXPECT_EQ(run_network(axes, {numbered({2, 3})}).data, (std::vector<double>{0, 1, 2, 3, 0, 4, 5, 6}));
}

// Pads x of this type by one place on each side.
OnnxModel typed_model(int type, const char* mode, const std::string& value) {
  OnnxModel model;
  model.input("x", {3}, type).integers("pads", {1, 1}).initializer("real", {}, {1});
  model.integers("wide", Shape{}, {1}).node("c", "Cast", {"wide"}, "whole").attribute("to", type);
  model.node("n", "Pad", {"x", "pads", value}, "y").attribute("mode", mode).output("y");
  return model;
}

TEST(Pad, TakesEveryTypeThatMovesElements) {
  const Values x{{3}, {0, 1, 0}};
  for (const int type : {onnx::TensorProto_DataType_INT64, onnx::TensorProto_DataType_INT32,
                         onnx::TensorProto_DataType_INT8, onnx::TensorProto_DataType_BOOL}) {
    const Values y = run_network(typed_model(type, "constant", "whole"), {x});
    EXPECT_EQ(y.data, (std::vector<double>{1, 0, 1, 0, 1}));
    EXPECT_NE(y.dtype, DType::f32);
    EXPECT_EQ(run_compiled(typed_model(type, "constant", "whole"), {x}), y.data);
    EXPECT_EQ(run_network(typed_model(type, "constant", ""), {x}).data, (std::vector<double>{0, 0, 1, 0, 0}));
    EXPECT_EQ(run_network(typed_model(type, "reflect", ""), {x}).data, (std::vector<double>{1, 0, 1, 0, 1}));
  }
}

TEST(Pad, ItsValueIsOfTheOperandsType) {
  EXPECT_EQ(import_error(typed_model(onnx::TensorProto_DataType_INT32, "constant", "real")),
            "node 'n' (Pad): input 2, 'real', is f32[], and must be one i32");
  EXPECT_EQ(import_error(typed_model(onnx::TensorProto_DataType_INT32, "constant", "pads")),
            "node 'n' (Pad): input 2, 'pads', is i64[2], and must be one i32");
  OnnxModel far = node_model({3}, "Pad", {"w", "pads", "v"});
  far.integers("w", {1, 2}).integers("pads", {1, 1}).integers("v", Shape{}, {(int64_t{1} << 53) + 2});
  EXPECT_EQ(import_error(far),
            "node 'n' (Pad): input 2, 'v', is 9.0072e+15, and Lathe supports integers up to 2^53 there");
}

TEST(Pad, NamesPadsThatItCannotMake) {
  EXPECT_EQ(
      import_error(pad_model("mirror", {0, 0, 0, 0})),
      "node 'n' (Pad): attribute 'mode' is 'mirror', and Lathe supports constant, edge, reflect and wrap");
  EXPECT_EQ(import_error(pad_model("edge", {0, -2, 0, -1})),
            "node 'n' (Pad): the pads -2 and -1 of axis 1 of [2,3] are out of range");
  EXPECT_EQ(import_error(pad_model("constant", {0, -2, 0, -1})),
            "output 'y' has shape [2,0], which has no elements, and there is no other to compute");
  EXPECT_EQ(import_error(pad_model("constant", {0, 1})), "node 'n' (Pad): it has 2 pads for 2 axes");
}

OnnxModel center_model(const Shape& shape, std::initializer_list<int64_t> axes) {
  OnnxModel model;
  model.operator_set(18).input("x", {4, 5}).integers("s", shape);
  model.node("n", "CenterCropPad", {"x", "s"}, "y").output("y");
  if (axes.size() > 0) model.attribute("axes", axes);
  return model;
}

TEST(CenterCropPad, LeavesTheLargerPartAtTheEnd) {
  const Values x = numbered({4, 5});
  const auto run = [&](const Shape& shape, std::initializer_list<int64_t> axes) {
    return run_network(center_model(shape, axes), {x}).data;
  };
  EXPECT_EQ(run({1, 2}, {}), (std::vector<double>{x.data[6], x.data[7]}));
  EXPECT_EQ(run({2, 1}, {1, 0}), (std::vector<double>{x.data[6], x.data[7]}));
  EXPECT_EQ(run({1, 8}, {}),
            (std::vector<double>{0, x.data[5], x.data[6], x.data[7], x.data[8], x.data[9], 0, 0}));
  EXPECT_EQ(run({4}, {-2}), x.data);
  EXPECT_EQ(import_error(center_model({3}, {})), "node 'n' (CenterCropPad): it has 1 extents for 2 axes");
  EXPECT_EQ(import_error(center_model({0, 3}, {})),
            "output 'y' has shape [0,3], which has no elements, and there is no other to compute");
}

}  // namespace
}  // namespace lathe
