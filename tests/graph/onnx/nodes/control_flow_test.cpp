#include "graph/onnx/nodes/control_flow.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

constexpr int kBool = onnx::TensorProto_DataType_BOOL, kI64 = onnx::TensorProto_DataType_INT64;

using Numbers = std::vector<double>;

// y = x + w or x * w, w of the branch itself.
OnnxModel branch(const char* type, float w) {
  OnnxModel body;
  body.initializer("w", {1}, {w}).node("", type, {"x", "w"}, "inner").output("inner");
  return body;
}

OnnxModel if_model(const std::string& condition, const OnnxModel& on_true, const OnnxModel& on_false) {
  OnnxModel model;
  model.input("x", {2}).input("c", {}, kBool);
  model.node("two", "Less", {"x", "x"}, "less").node("n", "If", {condition}, "y");
  model.attribute("then_branch", on_true).attribute("else_branch", on_false).output("y");
  return model;
}

TEST(OnnxControlFlow, AConditionThatIsKnownLeavesOneBranch) {
  for (const int64_t flag : {0, 1}) {
    OnnxModel model;
    model.input("x", {2}).integers("flag", {}, {flag}).node("cast", "Cast", {"flag"}, "c");
    model.attribute("to", kBool).node("n", "If", {"c"}, "y");
    model.attribute("then_branch", branch("Add", 10)).attribute("else_branch", branch("Foo", 10)).output("y");
    if (flag == 0) {
      EXPECT_EQ(
          import_error(model),
          "Lathe does not support the node type 'Foo' (node 'inner') of the model, whose operator set is "
          "ONNX 17");
      *model.proto.mutable_graph()->mutable_node(1)->mutable_attribute(1)->mutable_g() =
          branch("Mul", 10).proto.graph();
    } else {
      *model.proto.mutable_graph()->mutable_node(1)->mutable_attribute(1)->mutable_g() =
          branch("Sub", 1).proto.graph();
    }
    EXPECT_EQ(run_network(model, {{{2}, {1, 2}}}).data, flag == 0 ? (Numbers{10, 20}) : (Numbers{11, 12}));
  }
}

TEST(OnnxControlFlow, AConditionOfTheRunChoosesBetweenBoth) {
  const OnnxModel model = if_model("c", branch("Add", 10), branch("Mul", 10));
  EXPECT_EQ(run_network(model, {{{2}, {1, 2}}, {{}, {1}}}).data, (Numbers{11, 12}));
  EXPECT_EQ(run_network(model, {{{2}, {1, 2}}, {{}, {0}}}).data, (Numbers{10, 20}));
}

// What an If gives may be what the graph around it has, under two names.
TEST(OnnxControlFlow, ABranchMayGiveWhatItReads) {
  OnnxModel plain;
  plain.output("x");
  OnnxModel model = if_model("c", plain, branch("Mul", -1));
  EXPECT_EQ(run_network(model, {{{2}, {1, 2}}, {{}, {1}}}).data, (Numbers{1, 2}));
  EXPECT_EQ(run_network(model, {{{2}, {1, 2}}, {{}, {0}}}).data, (Numbers{-1, -2}));
}

TEST(OnnxControlFlow, BranchesOfTheRunMustAgree) {
  OnnxModel flat;
  flat.node("", "ReduceSum", {"x"}, "sum").output("sum");
  EXPECT_EQ(
      import_error(if_model("c", flat, branch("Mul", 2))),
      "node 'n' (If): its condition is known only when the model runs, and its branches give f32[1] and "
      "f32[2] as output 0; Lathe supports one type there");
  EXPECT_EQ(import_error(if_model("less", branch("Add", 1), branch("Mul", 2))),
            "node 'n' (If): 'less' has shape [2], and must be one value");
  EXPECT_EQ(import_error(if_model("nothing", branch("Add", 1), branch("Mul", 2))),
            "node 'n' (If): it reads 'nothing', which no input, initializer or earlier node gives");
  EXPECT_EQ(import_error(if_model("c", branch("Add", 1), OnnxModel())),
            "node 'n' (If): a branch has 0 inputs and 0 outputs, and the node 1 outputs");
}

// a' = a * 2 + run, and what a was.
OnnxModel doubling() {
  OnnxModel body;
  body.input("run", {}, kI64).input("goes_on", {}, kBool).input("a", {2}).initializer("two", {1}, {2});
  body.node("", "Mul", {"a", "two"}, "twice").node("", "Cast", {"run"}, "number").attribute("to", 1);
  body.node("", "Add", {"twice", "number"}, "next").node("", "Identity", {"goes_on"}, "on");
  body.output("on").output("next").output("a");
  return body;
}

OnnxModel loop_model(const OnnxModel& body, const std::vector<std::string>& inputs) {
  OnnxModel model;
  model.input("x", {2}).integers("count", {}, {3}).node("n", "Loop", inputs, "y").gives("all");
  return model.attribute("body", body).output("y").output("all");
}

// x [2] plus w [3] is none; the input `rate` compared with a constant says whether it would be computed.
OnnxModel if_rate_model(const char* comparison, bool fits_where_true, bool is_real = false) {
  OnnxModel longer;
  longer.initializer("w", {3}).node("", "Add", {"x", "w"}, "inner").output("inner");
  const OnnxModel fits = branch("Add", 10);
  OnnxModel model;
  model.input("x", {2}).input("rate", {1}, is_real ? onnx::TensorProto_DataType_FLOAT : kI64);
  model.integers("expected", {}, {16000}).initializer("real", {}, {16000});
  model.node("compares", comparison, {"rate", is_real ? "real" : "expected"}, "c")
      .node("n", "If", {"c"}, "y");
  model.attribute("then_branch", fits_where_true ? fits : longer);
  return model.attribute("else_branch", fits_where_true ? longer : fits).output("y");
}

// The model has no result for other values of the input.
TEST(OnnxControlFlow, WhereOneBranchFitsAnInputMustChooseIt) {
  const auto required = [](const OnnxModel& model) {
    const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
    EXPECT_TRUE(graph) << graph.error().to_string();
    return graph ? graph->required : std::vector<RequiredValues>();
  };
  const OnnxModel model = if_rate_model("Equal", true);
  EXPECT_EQ(required(model), (std::vector{RequiredValues{"rate", {16000, 16000}}}));
  EXPECT_EQ(run_network(model, {{{2}, {1, 2}}, {{1}, {16000}}}).data, (Numbers{11, 12}));
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(required(if_rate_model("Greater", false)), (std::vector{RequiredValues{"rate", {least, 16000}}}));
  EXPECT_TRUE(required(if_model("c", branch("Add", 10), branch("Mul", 10))).empty());
}

TEST(OnnxControlFlow, NamesABranchThatDoesNotFitWhereNoInputChooses) {
  const std::string why =
      " (Add): the shapes [2] and [3] do not broadcast, in a branch of which only a run tells whether it is "
      "taken";
  EXPECT_EQ(import_error(if_rate_model("Equal", false)), "node 'n' (If): node 'y#then/0/inner'" + why);
  EXPECT_EQ(import_error(if_rate_model("Greater", true, true)), "node 'y#else/0/inner'" + why);
}

TEST(OnnxControlFlow, ALoopRunsItsCountAndGathersWhatItGives) {
  const OnnxModel model = loop_model(doubling(), {"count", "", "x"});
  EXPECT_EQ(run_network(model, {{{2}, {1, 2}}}).data, (Numbers{12, 20}));  // 8x + 4
  const Values all = run_network(model, {{{2}, {1, 2}}}, 1);
  EXPECT_EQ(all.shape, (Shape{3, 2}));
  EXPECT_EQ(all.data, (Numbers{1, 2, 2, 4, 5, 9}));
}

TEST(OnnxControlFlow, ALoopEndsWhereItsConditionDoes) {
  OnnxModel body = doubling();
  *body.proto.mutable_graph()->mutable_node(3) = onnx::NodeProto();
  body.proto.mutable_graph()->mutable_node()->RemoveLast();
  body.integers("one", {}, {1}).node("", "Less", {"run", "one"}, "on");
  EXPECT_EQ(run_network(loop_model(body, {"", "", "x"}), {{{2}, {1, 2}}}).data, (Numbers{5, 9}));
}

TEST(OnnxControlFlow, RefusesALoopThatNothingEnds) {
  const char* const refusal =
      "node 'n' (Loop): nothing ends it: its body's condition is always true, and no count is given that a "
      "run "
      "reaches";
  EXPECT_EQ(import_error(loop_model(doubling(), {"", "", "x"})), refusal);
  OnnxModel counted = loop_model(doubling(), {"most", "", "x"});
  EXPECT_EQ(import_error(counted.integers("most", {}, {std::numeric_limits<int64_t>::max()})), refusal);
  OnnxModel asked = loop_model(doubling(), {"", "c", "x"});
  EXPECT_EQ(import_error(asked.input("c", {}, kBool)), refusal);
}

// The state alone, of a loop whose count is an input.
OnnxModel counted_by_run(OnnxModel body, const std::vector<std::string>& inputs) {
  body.proto.mutable_graph()->mutable_output()->RemoveLast();
  OnnxModel model;
  model.input("x", {2}).input("count", {}, kI64).initializer("never", {}, std::vector<float>{0});
  model.node("cast", "Cast", {"never"}, "false").attribute("to", kBool);
  return model.node("n", "Loop", inputs, "y").attribute("body", body).output("y");
}

TEST(OnnxControlFlow, ALoopThatARunCountsMayEndBeforeOrBehindItsFirstRun) {
  const OnnxModel never = counted_by_run(doubling(), {"count", "false", "x"});
  EXPECT_EQ(run_network(never, {{{2}, {1, 2}}, {{}, {3}}}).data, (Numbers{1, 2}));
  OnnxModel body = doubling();
  body.proto.mutable_graph()->mutable_node()->RemoveLast();
  body.integers("zero", {}, {0}).node("", "Cast", {"zero"}, "on").attribute("to", kBool);
  const OnnxModel once = counted_by_run(body, {"count", "", "x"});
  EXPECT_EQ(run_network(once, {{{2}, {1, 2}}, {{}, {3}}}).data, (Numbers{2, 4}));
  EXPECT_EQ(run_network(once, {{{2}, {1, 2}}, {{}, {0}}}).data, (Numbers{1, 2}));
}

// The same until an element of a is beyond 4, which only a run tells.
OnnxModel doubling_while_small() {
  OnnxModel body = doubling();
  *body.proto.mutable_graph()->mutable_output(0)->mutable_name() = "is_small";
  body.initializer("four", {}, {4}).node("", "ReduceMax", {"a"}, "most").attribute("keepdims", 0);
  return body.node("", "Less", {"most", "four"}, "is_small");
}

TEST(OnnxControlFlow, ALoopThatOnlyTheRunEndsKeepsItsStatesFromThereOn) {
  OnnxModel body = doubling_while_small();
  body.proto.mutable_graph()->mutable_output()->RemoveLast();
  OnnxModel model;
  model.input("x", {2}).input("c", {1}, kBool).integers("count", {}, {3});
  model.node("n", "Loop", {"count", "c", "x"}, "y").attribute("body", body).output("y");
  // The run that finds an element of at least 4 is the last one.
  EXPECT_EQ(run_network(model, {{{2}, {1, 1}}, {{1}, {1}}}).data, (Numbers{12, 12}));
  EXPECT_EQ(run_network(model, {{{2}, {1, 2}}, {{1}, {1}}}).data, (Numbers{5, 9}));
  EXPECT_EQ(run_network(model, {{{2}, {1, 3}}, {{1}, {1}}}).data, (Numbers{5, 13}));
  EXPECT_EQ(run_network(model, {{{2}, {5, 4}}, {{1}, {1}}}).data, (Numbers{10, 8}));
  EXPECT_EQ(run_network(model, {{{2}, {1, 2}}, {{1}, {0}}}).data, (Numbers{1, 2}));
}

TEST(OnnxControlFlow, RefusesALoopWhoseRunsNobodyCounts) {
  const OnnxModel body = doubling_while_small();
  EXPECT_EQ(import_error(loop_model(body, {"", "", "x"})),
            "node 'n' (Loop): its output 'all' has a place for each run of its body, and only a run of the "
            "model tells how many there are");
  EXPECT_EQ(import_error(loop_model(body, {"count", "", "x"})),
            "node 'n' (Loop): its output 'all' has a place for each run of its body, and only a run of the "
            "model tells how many there are");
  EXPECT_EQ(import_error(loop_model(body, {"x", "", "x"})),
            "node 'n' (Loop): 'x' has shape [2], and must be one value");
  EXPECT_EQ(
      import_error(loop_model(branch("Add", 1), {"count", "", "x"})),
      "node 'n' (Loop): its body has 0 inputs and 1 outputs, and by those of the node it must have 3 and 3");
}

TEST(OnnxControlFlow, StatesOfALoopThatOnlyTheRunEndsKeepTheirType) {
  OnnxModel body;
  body.input("run", {}, kI64).input("goes_on", {}, kBool).input("a", {2});
  body.node("", "ReduceSum", {"a"}, "sum").attribute("keepdims", 0);
  body.node("", "Less", {"sum", "sum"}, "on").node("", "Concat", {"a", "a"}, "next").attribute("axis", 0);
  body.output("on").output("next");
  OnnxModel model;
  model.input("x", {2}).integers("count", {}, {2}).node("n", "Loop", {"count", "", "x"}, "y");
  EXPECT_EQ(import_error(model.attribute("body", body).output("y")),
            "node 'n' (Loop): its condition is known only when the model runs, and its body makes f32[8] of "
            "the state 0, which was f32[4]; Lathe supports one type there");
}

// Running sums of the places of x [3,2] along an axis, from start.
OnnxModel scan_model(int64_t axis, int64_t backwards) {
  OnnxModel body;
  body.input("sum", {2}).input("part", {2});
  body.node("", "Add", {"sum", "part"}, "next").node("", "Identity", {"next"}, "given");
  body.output("next").output("given");
  OnnxModel model;
  model.input("x", axis == 0 ? Shape{3, 2} : Shape{2, 3}).initializer("start", {2}, {0, 0});
  model.node("n", "Scan", {"start", "x"}, "last").gives("y").attribute("body", body);
  model.attribute("num_scan_inputs", 1).attribute("scan_input_axes", {axis});
  model.attribute("scan_output_axes", {axis});
  model.attribute("scan_input_directions", {backwards}).attribute("scan_output_directions", {backwards});
  return model.output("last").output("y");
}

TEST(OnnxControlFlow, AScanRunsOverEveryPlace) {
  const Values x{{3, 2}, {1, 10, 2, 20, 3, 30}};
  EXPECT_EQ(run_network(scan_model(0, 0), {x}).data, (Numbers{6, 60}));
  EXPECT_EQ(run_network(scan_model(0, 0), {x}, 1).data, (Numbers{1, 10, 3, 30, 6, 60}));
  EXPECT_EQ(run_network(scan_model(0, 1), {x}, 1).data, (Numbers{6, 60, 5, 50, 3, 30}));
  const Values turned{{2, 3}, {1, 2, 3, 10, 20, 30}};
  EXPECT_EQ(run_network(scan_model(1, 0), {turned}, 1).data, (Numbers{1, 3, 6, 10, 30, 60}));
}

// Two batches of three places, the second one's sums from 100 on.
TEST(OnnxControlFlow, AnOldScanHasABatchInFront) {
  OnnxModel body;
  body.input("sum", {1}).input("part", {1}).node("", "Add", {"sum", "part"}, "next");
  body.node("", "Identity", {"next"}, "given").output("next").output("given");
  OnnxModel model;
  model.operator_set(8).input("x", {2, 3, 1}).initializer("start", {2, 1}, {0, 100});
  model.node("n", "Scan", {"", "start", "x"}, "last").gives("y").attribute("body", body);
  model.attribute("num_scan_inputs", 1).output("last").output("y");
  const Values x = numbered({2, 3, 1});
  EXPECT_EQ(run_network(model, {x}).data, (Numbers{6, 115}));
  const Values sums = run_network(model, {x}, 1);
  EXPECT_EQ(sums.shape, (Shape{2, 3, 1}));
  EXPECT_EQ(sums.data, (Numbers{1, 3, 6, 104, 109, 115}));
  EXPECT_EQ(run_network(model.attribute("directions", {1}), {x}, 1).data, (Numbers{3, 5, 6, 106, 111, 115}));
  OnnxModel uneven = model.integers("lengths", {3, 2});
  uneven.proto.mutable_graph()->mutable_node(0)->set_input(0, "lengths");
  EXPECT_EQ(import_error(uneven),
            "node 'n' (Scan): its sequences are not all as long as the data, of 3 places");
}

// A loop within a branch within a loop: each place has names of its own.
TEST(OnnxControlFlow, BodiesStandWithinBodies) {
  OnnxModel inner;
  inner.input("j", {}, kI64).input("on", {}, kBool).input("b", {2});
  inner.node("", "Add", {"b", "a"}, "sum")
      .node("", "Identity", {"on"}, "still")
      .output("still")
      .output("sum");
  OnnxModel looping;
  looping.integers("two", {}, {2}).node("", "Loop", {"two", "", "a"}, "thrice").attribute("body", inner);
  looping.output("thrice");
  OnnxModel outer;
  outer.input("i", {}, kI64).input("on", {}, kBool).input("a", {2}).node("", "If", {"on"}, "next");
  outer.attribute("then_branch", looping).attribute("else_branch", branch("Add", 1));
  outer.node("", "Identity", {"on"}, "still").output("still").output("next");
  OnnxModel model;
  model.input("x", {2}).integers("count", {}, {2}).node("n", "Loop", {"count", "", "x"}, "y");
  model.attribute("body", outer).output("y");
  EXPECT_EQ(run_network(model, {{{2}, {1, 2}}}).data, (Numbers{9, 18}));
}

}  // namespace
}  // namespace lathe
