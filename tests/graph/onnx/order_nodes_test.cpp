#include "graph/onnx/order_nodes.h"

#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

std::vector<std::string> names_of(const OnnxModel& model) {
  std::vector<std::string> names;
  for (const onnx::NodeProto& node : model.proto.graph().node()) names.push_back(node.name());
  return names;
}

TEST(OrderNodes, ANodeStandsBehindWhatItAndItsBodiesRead) {
  OnnxModel body;
  body.node("", "Neg", {"late"}, "z").output("z");
  OnnxModel model;
  model.node("choice", "If", {"c"}, "w").attribute("then_branch", body).attribute("else_branch", body);
  model.node("sum", "Add", {"w", "late"}, "y")
      .node("late", "Exp", {"x"}, "late")
      .node("last", "Neg", {"x"}, "v");
  order_nodes(*model.proto.mutable_graph());
  EXPECT_EQ(names_of(model), (std::vector<std::string>{"late", "choice", "sum", "last"}));
}

TEST(OrderNodes, WhatIsInOrderStays) {
  OnnxModel model;
  model.node("b", "Exp", {"x"}, "p").node("a", "Exp", {"x"}, "q").node("c", "Add", {"q", "p"}, "y");
  order_nodes(*model.proto.mutable_graph());
  EXPECT_EQ(names_of(model), (std::vector<std::string>{"b", "a", "c"}));
}

TEST(OrderNodes, ModelsAreTakenSo) {
  OnnxModel model;
  model.input("x", {2})
      .node("sum", "Add", {"x", "s"}, "y")
      .node("square", "Mul", {"x", "x"}, "s")
      .output("y");
  EXPECT_EQ(run_network(model, {{{2}, {1, 3}}}).data, (std::vector<double>{2, 12}));
  OnnxModel circle;
  circle.input("x", {2}).node("a", "Add", {"x", "q"}, "p").node("b", "Neg", {"p"}, "q").output("p");
  EXPECT_EQ(import_error(circle),
            "node 'a' (Add): it reads 'q', which no input, initializer or earlier node gives");
}

}  // namespace
}  // namespace lathe
