#include "graph/onnx/functions.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

// A function of the model with these inputs and outputs, whose nodes are those of `body`.
onnx::FunctionProto& add_function(OnnxModel& model, const std::string& name,
                                  const std::vector<std::string>& inputs,
                                  const std::vector<std::string>& outputs, const OnnxModel& body) {
  onnx::FunctionProto& function = *model.proto.add_functions();
  function.set_name(name);
  function.set_domain("own");
  for (const std::string& input : inputs) function.add_input(input);
  for (const std::string& output : outputs) function.add_output(output);
  for (const onnx::NodeProto& node : body.proto.graph().node()) *function.add_node() = node;
  return function;
}

OnnxModel& call(OnnxModel& model, const std::string& function, const std::vector<std::string>& inputs,
                const std::string& output) {
  model.node("call " + output, function, inputs, output);
  model.proto.mutable_graph()->mutable_node()->rbegin()->set_domain("own");
  return model;
}

// twice(a) = a + a; the name `s` is also one of the models'.
OnnxModel twice() {
  OnnxModel body;
  body.node("add", "Add", {"a", "a"}, "s");
  return body;
}

TEST(OnnxFunctions, StandWhereTheyAreCalled) {
  OnnxModel model;
  model.input("x", {2}).node("neg", "Neg", {"x"}, "s");
  call(call(model, "twice", {"s"}, "t"), "twice", {"t"}, "y").output("y").output("s");
  add_function(model, "twice", {"a"}, {"s"}, twice());
  EXPECT_EQ(run_network(model, {{{2}, {1, 2}}}).data, (Numbers{-4, -8}));
  EXPECT_EQ(run_network(model, {{{2}, {1, 2}}}, 1).data, (Numbers{-1, -2}));
}

TEST(OnnxFunctions, CallEachOtherAndStandInBodies) {
  OnnxModel four_times;
  call(call(four_times, "twice", {"a"}, "s"), "twice", {"s"}, "b");
  OnnxModel branch;
  call(branch, "four_times", {"x"}, "z").output("z");
  OnnxModel plain;
  plain.output("x");
  OnnxModel model;
  model.input("x", {2})
      .input("c", {}, onnx::TensorProto_DataType_BOOL)
      .node("n", "If", {"c"}, "y")
      .output("y");
  model.attribute("then_branch", branch).attribute("else_branch", plain);
  add_function(model, "four_times", {"a"}, {"b"}, four_times);
  add_function(model, "twice", {"a"}, {"s"}, twice());
  EXPECT_EQ(run_network(model, {{{2}, {1, 2}}, {{}, {1}}}).data, (Numbers{4, 8}));
  EXPECT_EQ(run_network(model, {{{2}, {1, 2}}, {{}, {0}}}).data, (Numbers{1, 2}));
}

TEST(OnnxFunctions, TheirAttributesAreThoseOfTheCall) {
  OnnxModel body;
  body.node("leaky", "LeakyRelu", {"a"}, "b");
  onnx::AttributeProto& alpha = *body.proto.mutable_graph()->mutable_node(0)->add_attribute();
  alpha.set_name("alpha");
  alpha.set_ref_attr_name("slope");
  OnnxModel model;
  call(call(model.input("x", {1}), "leaky", {"x"}, "given").attribute("slope", 0.5), "leaky", {"x"}, "not");
  model.output("given").output("not");
  onnx::FunctionProto& function = add_function(model, "leaky", {"a"}, {"b"}, body);
  EXPECT_EQ(run_network(model, {{{1}, {-8}}}).data, (Numbers{-4}));
  EXPECT_NEAR(run_network(model, {{{1}, {-8}}}, 1).data.at(0), -0.08, 1e-6);
  // The function's own value of an attribute is a field that newer versions of the format have.
  alpha.clear_ref_attr_name();
  alpha.set_name("slope");
  alpha.set_type(onnx::AttributeProto_AttributeType_FLOAT);
  alpha.set_f(0.25);
  function.GetReflection()->MutableUnknownFields(&function)->AddLengthDelimited(11,
                                                                                alpha.SerializeAsString());
  EXPECT_EQ(run_network(model, {{{1}, {-8}}}, 1).data, (Numbers{-2}));
  EXPECT_EQ(run_network(model, {{{1}, {-8}}}).data, (Numbers{-4}));
}

TEST(OnnxFunctions, MayGiveWhatTheyAreGivenAndLeaveOut) {
  OnnxModel body;
  body.node("clip", "Clip", {"a", "low", "high"}, "b");
  OnnxModel model;
  call(model.input("x", {2}).initializer("one", {}, {1}), "clip", {"x", "", "one"}, "y").gives("same");
  model.gives("again").output("y").output("same").output("again");
  add_function(model, "clip", {"a", "low", "high"}, {"b", "a", "b"}, body);
  for (const size_t output : {0, 2})
    EXPECT_EQ(run_network(model, {{{2}, {-3, 2}}}, output).data, (Numbers{-3, 1}));
  EXPECT_EQ(run_network(model, {{{2}, {-3, 2}}}, 1).data, (Numbers{-3, 2}));
}

TEST(OnnxFunctions, RefusesWhatHasNoEnd) {
  OnnxModel model;
  call(model.input("x", {2}), "f0", {"x"}, "y").output("y");
  for (int i = 0; i < 7; ++i) {
    OnnxModel body;
    for (int k = 0; k < 10; ++k) call(body, fmt::format("f{}", i + 1), {"a"}, fmt::format("b{}", k));
    add_function(model, fmt::format("f{}", i), {"a"}, {"b0"}, body);
  }
  add_function(model, "f7", {"a"}, {"s"}, twice());
  EXPECT_NE(import_error(model).find("its functions come to more than 200000 nodes"), std::string::npos)
      << import_error(model);
  OnnxModel circle;
  call(circle.input("x", {2}), "f", {"x"}, "y").output("y");
  OnnxModel again;
  call(again, "f", {"a"}, "b");
  add_function(circle, "f", {"a"}, {"b"}, again);
  EXPECT_EQ(import_error(circle),
            "node 'call y#1/call b' calls the model's function 'f', which calls itself");
}

TEST(OnnxFunctions, RefusesCallsThatDoNotFit) {
  OnnxModel model;
  call(model.input("x", {2}), "twice", {"x", "x"}, "y").output("y");
  onnx::FunctionProto& function = add_function(model, "twice", {"a"}, {"s"}, twice());
  EXPECT_EQ(
      import_error(model),
      "node 'call y' calls the model's function 'twice', which has 1 inputs and 1 outputs, with 2 and 1");
  model.proto.mutable_graph()->mutable_node(0)->mutable_input()->RemoveLast();
  function.add_opset_import()->set_version(13);
  EXPECT_EQ(import_error(model),
            "node 'call y' calls the model's function 'twice', which is written in ONNX operator set 13, and "
            "Lathe supports that of the model, 17, there");
}

}  // namespace
}  // namespace lathe
