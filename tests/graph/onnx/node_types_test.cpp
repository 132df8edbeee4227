#include "graph/onnx/node_types.h"

#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

std::string refusal_of(const OnnxModel& model) {
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
  return graph ? "imported" : graph.error().to_string();
}

TEST(OnnxNodeTypes, NamesTheOnlyNodeOfAType) {
  OnnxModel model;
  model.input("x", {4}).node("n", "Foo", {"x"}, "y").output("y");
  EXPECT_EQ(
      refusal_of(model),
      "m.onnx: Lathe does not support the node type 'Foo' (node 'n') of the model, whose operator set is "
      "ONNX 17");
  model.proto.mutable_graph()->mutable_node(0)->clear_name();
  EXPECT_EQ(
      refusal_of(model),
      "m.onnx: Lathe does not support the node type 'Foo' (node 'y') of the model, whose operator set is "
      "ONNX 17");
}

TEST(OnnxNodeTypes, NamesEveryTypeWithItsNumberAndDomain) {
  OnnxModel model;
  model.input("x", {4});
  model.node("a", "Foo", {"x"}, "b").node("b", "Relu", {"b"}, "c").node("c", "Relu", {"c"}, "d");
  model.node("d", "Foo", {"d"}, "e").node("e", "Bar", {"e"}, "f").node("f", "Relu", {"f"}, "y").output("y");
  model.proto.mutable_graph()->mutable_node(2)->set_domain("com.acme");
  onnx::OperatorSetIdProto& set = *model.proto.add_opset_import();
  set.set_domain("com.acme");
  set.set_version(3);
  EXPECT_EQ(
      refusal_of(model),
      "m.onnx: Lathe does not support the node types 'Foo' (2 nodes, the first is 'a'), 'com.acme.Relu' "
      "(node 'c'), 'Bar' (node 'e') of the model, whose operator sets are ONNX 17, com.acme 3");
}

}  // namespace
}  // namespace lathe
