// Squeeze, Unsqueeze and Dropout as the network runs them.
#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

// y = n(x) -> Neg, x of this shape; `axes`, if any, a constant operand.
OnnxModel view_model(const char* type, const Shape& shape, const std::vector<int64_t>& axes) {
  OnnxModel model;
  model.input("x", shape)
      .integers("axes", axes)
      .node("n", type, {"x", "axes"}, "t")
      .node("m", "Neg", {"t"}, "y");
  return std::move(model.output("y"));
}

Shape shape_of(const OnnxModel& model, const Shape& shape) {
  return run_network(model, {numbered(shape)}).shape;
}

TEST(Squeeze, DropsTheAxesItNamesOrAllOfOnePlace) {
  EXPECT_EQ(shape_of(view_model("Squeeze", {1, 3, 1, 2}, {-2}), {1, 3, 1, 2}), (Shape{1, 3, 2}));
  EXPECT_EQ(shape_of(view_model("Squeeze", {1, 3, 1, 2}, {}), {1, 3, 1, 2}), (Shape{3, 2}));
  EXPECT_EQ(shape_of(view_model("Squeeze", {1, 1}, {}), {1, 1}), Shape{});
  EXPECT_EQ(import_error(view_model("Squeeze", {1, 3}, {1})),
            "node 'n' (Squeeze): axis 1 of [1,3] has more than one place");
}

TEST(Unsqueeze, PutsAxesOfOnePlaceWhereTheResultHasThem) {
  EXPECT_EQ(shape_of(view_model("Unsqueeze", {3, 2}, {-1, 0}), {3, 2}), (Shape{1, 3, 2, 1}));
  EXPECT_EQ(import_error(view_model("Unsqueeze", {3, 2}, {1, 1})),
            "node 'n' (Unsqueeze): axis 1 is named twice");
  EXPECT_EQ(import_error(view_model("Unsqueeze", {3, 2}, {3})),
            "node 'n' (Unsqueeze): there is no axis 3 among 3 axes");
}

TEST(Views, TakeTheirAxesFromAttributesInOldOperatorSets) {
  OnnxModel model;
  model.operator_set(11).input("x", {1, 3}).node("a", "Squeeze", {"x"}, "t").attribute("axes", {0});
  model.node("b", "Unsqueeze", {"t"}, "u").attribute("axes", {1, 2}).node("c", "Neg", {"u"}, "y").output("y");
  EXPECT_EQ(shape_of(model, {1, 3}), (Shape{3, 1, 1}));
}

OnnxModel dropout_model(bool trains, float ratio = 0.5F) {
  OnnxModel model;
  model.input("x", {2}).initializer("ratio", {}, {ratio}).node("n", "Dropout", {"x", "ratio", "trains"}, "y");
  onnx::TensorProto& flag = *model.proto.mutable_graph()->add_initializer();
  flag.set_name("trains");
  flag.set_data_type(onnx::TensorProto_DataType_BOOL);
  flag.add_int32_data(trains ? 1 : 0);
  return std::move(model.output("y"));
}

TEST(Dropout, DropsNothingInInference) {
  EXPECT_EQ(run_network(dropout_model(false), {numbered({2})}).data, (std::vector<double>{1, 2}));
  EXPECT_EQ(import_error(dropout_model(true)),
            "node 'n' (Dropout): it is in training mode, and Lathe supports inference");
  // Nothing is dropped in training either where the ratio is 0.
  EXPECT_EQ(run_network(dropout_model(true, 0), {numbered({2})}).data, (std::vector<double>{1, 2}));
  OnnxModel computed = dropout_model(false);
  computed.proto.mutable_graph()->mutable_node(0)->set_input(2, "ratio");
  EXPECT_EQ(import_error(computed), "node 'n' (Dropout): input 2, 'ratio', is f32[], and must be one bool");
}

TEST(Reshape, AShapeWithoutElementsIsThatOfOneNumber) {
  for (const char* type : {"Reshape", "Expand"}) {
    OnnxModel model;
    model.input("x", {}).node("shape", "Shape", {"x"}, "s").node("c", "ConstantOfShape", {"s"}, "c");
    model.node("n", type, {"x", "s"}, "r").node("sum", "Add", {"r", "c"}, "y").output("y");
    EXPECT_EQ(run_network(model, {{{}, {3}}}).data, (std::vector<double>{3})) << type;
  }
}

}  // namespace
}  // namespace lathe
