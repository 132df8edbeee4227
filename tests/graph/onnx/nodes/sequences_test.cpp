#include "graph/onnx/nodes/sequences.h"

#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

constexpr int kBool = onnx::TensorProto_DataType_BOOL, kI64 = onnx::TensorProto_DataType_INT64;

using Numbers = std::vector<double>;

const std::vector<Values> kThree{{{2}, {1, 2}}, {{2}, {3, 4}}, {{2}, {5, 6}}};

// A sequence s of a, b and c.
OnnxModel three() {
  OnnxModel model;
  model.input("a", {2}).input("b", {2}).input("c", {2});
  model.integers("first", {}, {0}).integers("last", {}, {-1}).integers("far", {}, {4});
  return model.node("s", "SequenceConstruct", {"a", "b", "c"}, "s");
}

Numbers result(OnnxModel model, const std::vector<Values>& inputs = kThree) {
  return run_network(model.output("y"), inputs).data;
}

std::string refusal(OnnxModel model) { return import_error(model.output("y")); }

TEST(OnnxSequences, HoldTensorsByTheirPlaces) {
  EXPECT_EQ(result(three().node("n", "SequenceAt", {"s", "first"}, "y")), (Numbers{1, 2}));
  EXPECT_EQ(result(three().node("n", "SequenceAt", {"s", "last"}, "y")), (Numbers{5, 6}));
  EXPECT_EQ(result(three().node("n", "SequenceLength", {"s"}, "y")), (Numbers{3}));
  EXPECT_EQ(refusal(three().node("n", "SequenceAt", {"s", "far"}, "y")),
            "node 'n' (SequenceAt): its position is 4, and its sequence has 3 tensors");
  EXPECT_EQ(refusal(three().node("n", "SequenceAt", {"a", "first"}, "y")),
            "node 'n' (SequenceAt): it reads 'a', which no earlier node gives as a sequence");
}

TEST(OnnxSequences, APlaceOfTheRunPicksAmongTensorsOfOneType) {
  OnnxModel model = three().input("at", {1}, kI64).node("n", "SequenceAt", {"s", "at"}, "y");
  std::vector<Values> inputs = kThree;
  inputs.push_back({{1}, {-2}});
  EXPECT_EQ(result(model, inputs), (Numbers{3, 4}));
  OnnxModel mixed;
  mixed.input("a", {2}).input("b", {3}).input("at", {1}, kI64);
  mixed.node("s", "SequenceConstruct", {"a", "b"}, "s").node("n", "SequenceAt", {"s", "at"}, "y");
  EXPECT_EQ(refusal(mixed),
            "node 'n' (SequenceAt): its tensors are f32[2] and f32[3], and must be of one type");
}

TEST(OnnxSequences, GrowAndShrink) {
  const auto joined = [](OnnxModel model) {
    return result(model.node("j", "ConcatFromSequence", {"t"}, "y").attribute("axis", 0));
  };
  EXPECT_EQ(joined(three().node("n", "SequenceInsert", {"s", "b"}, "t")), (Numbers{1, 2, 3, 4, 5, 6, 3, 4}));
  EXPECT_EQ(joined(three().node("n", "SequenceInsert", {"s", "c", "first"}, "t")),
            (Numbers{5, 6, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(joined(three().node("n", "SequenceInsert", {"s", "a", "last"}, "t")),
            (Numbers{1, 2, 3, 4, 1, 2, 5, 6}));
  EXPECT_EQ(joined(three().node("n", "SequenceErase", {"s"}, "t")), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(joined(three().node("n", "SequenceErase", {"s", "first"}, "t")), (Numbers{3, 4, 5, 6}));
  EXPECT_EQ(joined(three().node("e", "SequenceEmpty", {}, "e").node("n", "SequenceInsert", {"e", "b"}, "t")),
            (Numbers{3, 4}));
  EXPECT_EQ(refusal(three().node("e", "SequenceEmpty", {}, "e").node("n", "SequenceAt", {"e", "first"}, "y")),
            "node 'n' (SequenceAt): its sequence is empty");
  EXPECT_EQ(
      refusal(three().input("i", {}, kI64).node("n", "SequenceErase", {"s", "i"}, "y")),
      "node 'n' (SequenceErase): its position is known only when the model runs, and Lathe supports one "
      "that is constant");
  EXPECT_EQ(refusal(three().node("n", "SequenceInsert", {"s", "first"}, "y")),
            "node 'n' (SequenceInsert): its tensors are of f32 and i64");
}

TEST(OnnxSequences, AreJoinedAlongAnAxisOrANewOne) {
  OnnxModel model = three().node("n", "ConcatFromSequence", {"s"}, "y");
  EXPECT_EQ(result(model.attribute("new_axis", 1).attribute("axis", -1)), (Numbers{1, 3, 5, 2, 4, 6}));
  OnnxModel none;
  none.node("e", "SequenceEmpty", {}, "e").node("n", "ConcatFromSequence", {"e"}, "y").attribute("axis", 0);
  EXPECT_EQ(refusal(none), "node 'n' (ConcatFromSequence): it joins the tensors of an empty sequence");
}

// x [2,5] in parts along its second axis; the output is the second part.
OnnxModel parts(const std::vector<std::string>& inputs) {
  OnnxModel model;
  model.input("x", {2, 5}).integers("two", {}, {2}).integers("sizes", {1, 4}).integers("wrong", {1, 3});
  model.integers("one", {}, {1}).node("s", "SplitToSequence", inputs, "s").attribute("axis", -1);
  return model;
}

TEST(OnnxSequences, SplitATensor) {
  const auto second = [](OnnxModel model) {
    return run_network(model.node("n", "SequenceAt", {"s", "one"}, "y").output("y"), {numbered({2, 5})});
  };
  EXPECT_EQ(second(parts({"x", "two"})).data, (Numbers{3, 4, 8, 9}));
  EXPECT_EQ(second(parts({"x", "sizes"})).data, (Numbers{2, 3, 4, 5, 7, 8, 9, 10}));
  EXPECT_EQ(second(parts({"x"})).shape, (Shape{2, 1}));
  EXPECT_EQ(second(parts({"x"}).attribute("keepdims", 0)).shape, (Shape{2}));
  EXPECT_EQ(second(parts({"x"}).attribute("keepdims", 0)).data, (Numbers{2, 7}));
  EXPECT_EQ(
      run_network(parts({"x", "two"}).node("n", "SequenceLength", {"s"}, "y").output("y"), {numbered({2, 5})})
          .data,
      (Numbers{3}));
  EXPECT_EQ(refusal(parts({"x", "wrong"})),
            "node 's' (SplitToSequence): its sizes [1,3] do not split an axis of 5 places");
  EXPECT_EQ(refusal(parts({"x", "given"}).input("given", {2}, kI64)),
            "node 's' (SplitToSequence): its sizes are known only when the model runs, and Lathe supports "
            "constant ones");
}

TEST(OnnxSequences, AreMappedTensorByTensor) {
  OnnxModel body;
  body.input("p", {2}).input("q", {2}).node("", "Sub", {"p", "q"}, "r").output("r");
  OnnxModel model =
      three().operator_set(17).node("n", "SequenceMap", {"s", "a"}, "t").attribute("body", body);
  OnnxModel both = three().operator_set(17).node("n", "SequenceMap", {"s", "s"}, "t").attribute("body", body);
  const auto joined = [](OnnxModel mapped) {
    return result(mapped.node("j", "ConcatFromSequence", {"t"}, "y").attribute("axis", 0));
  };
  EXPECT_EQ(joined(model), (Numbers{0, 0, 2, 2, 4, 4}));
  EXPECT_EQ(joined(both), (Numbers{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(refusal(three().node("n", "SequenceMap", {"s"}, "y").attribute("body", body)),
            "node 'n' (SequenceMap): its body has 2 inputs and 1 outputs, and the node 1 and 1");
  EXPECT_EQ(refusal(three()
                        .node("e", "SequenceErase", {"s"}, "e")
                        .node("n", "SequenceMap", {"s", "e"}, "y")
                        .attribute("body", body)),
            "node 'n' (SequenceMap): its sequences have 3 and 2 tensors");
}

TEST(OnnxSequences, OptionalsHoldSomethingOrNothing) {
  OnnxModel full = three().node("o", "Optional", {"b"}, "o");
  EXPECT_EQ(result(OnnxModel(full).node("n", "OptionalHasElement", {"o"}, "y")), (Numbers{1}));
  EXPECT_EQ(result(OnnxModel(full).node("n", "OptionalGetElement", {"o"}, "y")), (Numbers{3, 4}));
  OnnxModel none = three().node("o", "Optional", {}, "o");
  EXPECT_EQ(result(OnnxModel(none).node("n", "OptionalHasElement", {"o"}, "y")), (Numbers{0}));
  EXPECT_EQ(refusal(OnnxModel(none).node("n", "OptionalGetElement", {"o"}, "y")),
            "node 'n' (OptionalGetElement): 'o' has no element to get");
  EXPECT_EQ(import_error(OnnxModel(none).output("o")), "output 'o' is an optional without a value");
  EXPECT_EQ(refusal(three().node("n", "OptionalHasElement", {"z"}, "y")),
            "node 'n' (OptionalHasElement): it reads 'z', which no input, initializer or earlier node gives");
  OnnxModel sequence = three().node("o", "Optional", {"s"}, "o").node("g", "OptionalGetElement", {"o"}, "g");
  EXPECT_EQ(result(sequence.node("n", "SequenceLength", {"g"}, "y")), (Numbers{3}));
}

// The tensors of a sequence that a loop carries are as many as it has run.
TEST(OnnxSequences, AreCarriedByLoopsAndChosenByBranches) {
  OnnxModel body;
  body.input("run", {}, kI64).input("goes_on", {}, kBool).input("t", {});
  body.node("", "SequenceInsert", {"t", "a"}, "u").node("", "Identity", {"goes_on"}, "on");
  body.output("on").output("u");
  OnnxModel looped = three().integers("count", {}, {2}).node("l", "Loop", {"count", "", "s"}, "z");
  EXPECT_EQ(result(looped.attribute("body", body).node("n", "SequenceLength", {"z"}, "y")), (Numbers{5}));

  OnnxModel first, second;
  first.node("", "SequenceConstruct", {"a", "b"}, "t").output("t");
  second.node("", "SequenceConstruct", {"c", "c"}, "t").output("t");
  OnnxModel chosen = three().input("on", {}, kBool).node("i", "If", {"on"}, "y");
  chosen.attribute("then_branch", first).attribute("else_branch", second).output("y");
  std::vector<Values> inputs = kThree;
  inputs.push_back({{}, {0}});
  EXPECT_EQ(run_network(chosen, inputs, 1).data, (Numbers{5, 6}));
  inputs.back().data = {1};
  EXPECT_EQ(run_network(chosen, inputs, 1).data, (Numbers{3, 4}));
  second.node("", "SequenceConstruct", {"c"}, "w");
  *second.proto.mutable_graph()->mutable_output(0)->mutable_name() = "w";
  OnnxModel unequal = three().input("on", {}, kBool).node("i", "If", {"on"}, "y");
  unequal.attribute("then_branch", first).attribute("else_branch", second);
  EXPECT_EQ(
      refusal(unequal),
      "node 'i' (If): its condition is known only when the model runs, and its branches give a sequence "
      "of 2 and a sequence of 1 as output 0; Lathe supports one type there");
}

TEST(OnnxSequences, AsOutputsAreTensorsOfTheirOwn) {
  const Result<Graph> graph = import_onnx_bytes(three().output("a").output("s").bytes(), "m");
  ASSERT_TRUE(graph) << graph.error().message;
  std::vector<std::string> names;
  for (const TensorId id : graph->outputs) names.push_back(graph->tensor(id).name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "s.0", "s.1", "s.2"}));
}

TEST(OnnxSequences, AreNoTensors) {
  EXPECT_EQ(refusal(three().node("n", "Relu", {"s"}, "y")),
            "node 'n' (Relu): input 0, 's', is not a tensor, and must be one");
  EXPECT_EQ(refusal(three().node("n", "SequenceAt", {"s"}, "y")),
            "node 'n' (SequenceAt): it has 1 input, and takes 2");
  EXPECT_EQ(refusal(three().operator_set(14).node("o", "Optional", {"a"}, "y")),
            "node 'o' (Optional): it is of operator set 14, and Lathe supports it from 15 on");
}

}  // namespace
}  // namespace lathe
