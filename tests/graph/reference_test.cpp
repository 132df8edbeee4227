#include "graph/reference.h"

#include <gtest/gtest.h>

#include "graph/onnx/import.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

// The first output of a model for one input of this shape; a Relu in front of nothing keeps x alive.
std::vector<double> run(const OnnxModel& model, const Values& input) {
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
  if (!graph) throw std::runtime_error(graph.error().to_string());
  return evaluate_graph(*graph, std::vector<Values>{input}).value().at(0).data;
}

using Data = std::vector<double>;

TEST(Reference, Conv) {
  OnnxModel model;
  model.input("x", {1, 1, 3, 3}).initializer("w", {1, 1, 2, 2}, {1, 2, 3, 4}).initializer("b", {1}, {10});
  model.node("n", "Conv", {"x", "w", "b"}, "y")
      .output("y")
      .attribute("pads", {1, 0, 0, 1})
      .attribute("strides", {2, 1});
  // Rows -1, 0 and 1, 2; columns 0,1  1,2  2,3 with zeros outside.
  EXPECT_EQ(run(model, {{1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}}), (Data{21, 28, 19, 77, 87, 43}));
}

TEST(Reference, GroupedDilatedConvOfOneAxis) {
  OnnxModel model;
  model.input("x", {1, 2, 4}).initializer("w", {2, 1, 2}, {1, 10, 100, 1000});
  model.node("n", "Conv", {"x", "w"}, "y").output("y").attribute("group", 2).attribute("dilations", {2});
  EXPECT_EQ(run(model, {{1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}}), (Data{31, 42, 7500, 8600}));
}

TEST(Reference, SamePadding) {
  OnnxModel model;
  model.input("x", {1, 1, 4}).initializer("w", {1, 1, 2}, {1, 10});
  model.node("n", "Conv", {"x", "w"}, "y").output("y").attribute("auto_pad", "SAME_UPPER");
  EXPECT_EQ(run(model, {{1, 1, 4}, {1, 2, 3, 4}}), (Data{21, 32, 43, 4}));
  model.proto.mutable_graph()->mutable_node(0)->mutable_attribute(0)->set_s("SAME_LOWER");
  EXPECT_EQ(run(model, {{1, 1, 4}, {1, 2, 3, 4}}), (Data{10, 21, 32, 43}));
}

TEST(Reference, Pools) {
  OnnxModel model;
  model.input("x", {1, 1, 2, 3});
  model.node("n", "MaxPool", {"x"}, "y")
      .output("y")
      .attribute("kernel_shape", {2, 2})
      .attribute("pads", {0, 1, 0, 1});
  const Values input{{1, 1, 2, 3}, {-1, -2, -3, -4, -5, -6}};
  EXPECT_EQ(run(model, input), (Data{-1, -1, -2, -3}));
  model.proto.mutable_graph()->mutable_node(0)->clear_attribute();
  model.proto.mutable_graph()->mutable_node(0)->set_op_type("GlobalAveragePool");
  EXPECT_EQ(run(model, input), (Data{-3.5}));
}

TEST(Reference, Gemm) {
  OnnxModel model;
  model.input("x", {1, 2}).initializer("w", {3, 2}, {1, 2, 3, 4, 5, 6}).initializer("b", {3}, {10, 20, 30});
  model.node("n", "Gemm", {"x", "w", "b"}, "y").output("y").attribute("transB", 1);
  EXPECT_EQ(run(model, {{1, 2}, {1, 10}}), (Data{31, 63, 95}));
}

TEST(Reference, BatchNormAndViews) {
  OnnxModel model;
  model.input("x", {1, 2, 2}).initializer("s", {2}, {1, 2}).initializer("b", {2}, {10, 20});
  model.initializer("m", {2}, {1, 2}).initializer("v", {2}, {3, 8});
  model.node("n", "BatchNormalization", {"x", "s", "b", "m", "v"}, "t").attribute("epsilon", 1.0);
  model.node("f", "Flatten", {"t"}, "u").attribute("axis", -1).node("r", "Relu", {"u"}, "y").output("y");
  EXPECT_EQ(run(model, {{1, 2, 2}, {1, 3, -1, -40}}), (Data{10, 11, 18, 0}));
}

TEST(Reference, RejectsOtherInputs) {
  const Graph graph = import_onnx_bytes(small_conv_model().bytes(), "m.onnx").value();
  EXPECT_EQ(evaluate_graph(graph, {}).error().message, "0 inputs are given, and the graph has 1");
  EXPECT_EQ(evaluate_graph(graph, std::vector<Values>{{{2}, {1, 2}}}).error().message,
            "input 'x' is given with shape [2], and has [1,2,5,5]");
}

}  // namespace
}  // namespace lathe
