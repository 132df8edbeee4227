#include "graph/onnx/bodies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "graph/onnx/models.h"

namespace lathe {
namespace {

std::string text_of(const onnx::NodeProto& node) {
  return fmt::format("{} = {}({})", fmt::join(node.output(), ", "), node.op_type(),
                     fmt::join(node.input(), ", "));
}

std::string text_of(const std::vector<onnx::NodeProto>& nodes) {
  std::string text;
  for (const onnx::NodeProto& node : nodes) text += text_of(node) + "\n";
  return text;
}

TEST(OnnxBodies, EachRunHasNamesOfItsOwn) {
  OnnxModel body;
  body.input("a", {2}).initializer("w", {1}, {3}).node("", "Constant", {}, "c").attribute("value_float", 1.0);
  body.node("", "Mul", {"a", "w"}, "b")
      .node("", "Add", {"b", "outside"}, "d")
      .node("", "Neg", {"b"}, "unread");
  body.node("", "Split", {"d"}, "e").gives("f").output("a").output("e").output("c");
  StandingBody standing(body.proto.graph(), "n");
  EXPECT_EQ(text_of(standing.constants()), "n/w = Constant()\nn/c = Constant()\n");
  EXPECT_EQ(text_of(standing.run(0, {"x"})),
            "n/0/b = Mul(x, n/w)\nn/0/d = Add(n/0/b, outside)\nn/0/e,  = Split(n/0/d)\n");
  EXPECT_EQ(standing.outputs(), (std::vector<std::string>{"x", "n/0/e", "n/c"}));
  EXPECT_EQ(text_of(standing.run(1, {"n/0/e"})),
            "n/1/b = Mul(n/0/e, n/w)\nn/1/d = Add(n/1/b, outside)\nn/1/e,  = Split(n/1/d)\n");
}

TEST(OnnxBodies, WhatABodyGivesItselfHidesWhatIsAround) {
  OnnxModel body;
  body.node("", "Add", {"a", "b"}, "b2").node("", "Neg", {"b2"}, "c").output("c");
  OnnxModel model;
  model.node("n", "If", {"a"}, "c").attribute("then_branch", body);
  const onnx::NodeProto node = with_names(model.proto.graph().node(0), {{"a", "A"}, {"b", "B"}, {"c", "C"}});
  EXPECT_EQ(text_of(node), "C = If(A)");
  const onnx::GraphProto& inner = node.attribute(0).g();
  EXPECT_EQ(text_of(inner.node(0)), "b2 = Add(A, B)");
  EXPECT_EQ(text_of(inner.node(1)), "c = Neg(b2)");
  EXPECT_EQ(inner.output(0).name(), "c");
}

TEST(OnnxBodies, BodiesReadToo) {
  OnnxModel body;
  body.node("", "Neg", {"deep"}, "c").output("c");
  OnnxModel model;
  model.node("n", "If", {"flag"}, "y").attribute("then_branch", body).output("y");
  EXPECT_EQ(names_read(model.proto.graph()), (std::unordered_set<std::string>{"flag", "deep", "c", "y"}));
}

}  // namespace
}  // namespace lathe
