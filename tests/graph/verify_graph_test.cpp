// Graphs that hands or files broke: each invariant by itself, with its sentence.
#include <gtest/gtest.h>

#include "graph/graph.h"

namespace lathe {
namespace {

// x [2,3] -> Relu -> y; y + w [3] -> z, the output.
Graph sum_graph() {
  GraphBuilder builder("net");
  const TensorId x = *builder.input("x", {DType::f32, {2, 3}});
  const TensorId w =
      *builder.constant("w", {DType::f32, {3}}, to_bytes(DType::f32, std::vector<double>{1, 2, 3}));
  const TensorId y = *builder.node("r", MapOp{MapFunction::relu}, {x}, "y");
  const TensorId z = *builder.node("s", ZipOp{ZipFunction::add}, {y, w}, "z");
  EXPECT_TRUE(builder.output(z));
  return builder.build();
}

// The sentence with which a graph is refused that this makes of the sum; "whole" where none is.
template <class Break>
std::string refusal(Break change) {
  Graph graph = sum_graph();
  change(graph);
  const Status status = verify(graph);
  if (status) return "whole";
  EXPECT_EQ(status.error().kind, ErrorKind::invalid_program);
  EXPECT_EQ(status.error().where, "graph net");
  return status.error().message;
}

constexpr TensorId kX = 0, kW = 1, kY = 2, kZ = 3;

TEST(VerifyGraph, TakesWhatTheBuilderMakes) {
  EXPECT_EQ(refusal([](Graph&) {}), "whole");
  EXPECT_TRUE(verify(Graph{}));
}

TEST(VerifyGraph, InputsAreTensorsOfTheirOwn) {
  EXPECT_EQ(refusal([](Graph& g) { g.inputs.push_back(9); }), "an input is no tensor of its own");
  EXPECT_EQ(refusal([](Graph& g) { g.inputs.push_back(kX); }), "an input is no tensor of its own");
  EXPECT_EQ(refusal([](Graph& g) { g.inputs.push_back(kW); }), "an input is no tensor of its own");
}

TEST(VerifyGraph, NodesReadWhatIsThere) {
  EXPECT_EQ(refusal([](Graph& g) { g.nodes[0].inputs = {17}; }),
            "node 'r' reads a tensor that nothing before it gives");
  EXPECT_EQ(refusal([](Graph& g) { g.nodes[0].inputs = {kZ}; }),
            "node 'r' reads a tensor that nothing before it gives");
  EXPECT_EQ(refusal([](Graph& g) { g.nodes[0].inputs = {kY}; }),
            "node 'r' reads a tensor that nothing before it gives");
  EXPECT_EQ(refusal([](Graph& g) { g.inputs.clear(); }),
            "node 'r' reads a tensor that nothing before it gives");
  EXPECT_EQ(refusal([](Graph& g) { g.tensors[kW].data = nullptr; }),
            "node 's' reads a tensor that nothing before it gives");
}

TEST(VerifyGraph, NodesGiveWhatIsNotThere) {
  EXPECT_EQ(refusal([](Graph& g) { g.nodes[1].output = 4; }),
            "node 's' gives a tensor that is there already");
  EXPECT_EQ(refusal([](Graph& g) { g.nodes[1].output = kX; }),
            "node 's' gives a tensor that is there already");
  EXPECT_EQ(refusal([](Graph& g) { g.nodes[1].output = kW; }),
            "node 's' gives a tensor that is there already");
}

TEST(VerifyGraph, TypesAreThoseThatFollow) {
  EXPECT_EQ(refusal([](Graph& g) { g.tensors[kZ].type.dtype = DType::i32; }),
            "node 's' gives f32[2,3], and its output is declared i32[2,3]");
  EXPECT_EQ(refusal([](Graph& g) { g.tensors[kX].type.shape = {2, 4}; }),
            "node 'r' gives f32[2,4], and its output is declared f32[2,3]");
}

// What an operator itself refuses is no fault of the form, and has its own kind.
TEST(VerifyGraph, NamesTheNodeThatDoesNotTakeItsOperands) {
  Graph graph = sum_graph();
  graph.nodes[1].inputs = {kY};
  EXPECT_EQ(verify(graph).error().to_string(), "node 's' (Add): it has 1 input, and takes 2");
  graph = sum_graph();
  graph.tensors[kW].type.shape = {2};
  EXPECT_EQ(verify(graph).error().to_string(), "node 's' (Add): the shapes [2,3] and [2] do not broadcast");
}

TEST(VerifyGraph, ConstantsHaveTheBytesOfTheirTypes) {
  EXPECT_EQ(refusal([](Graph& g) { g.tensors[kW].data = std::make_shared<Bytes>(11); }),
            "constant 'w' has 11 bytes of data, and f32[3] takes 12");
  EXPECT_EQ(refusal([](Graph& g) { g.tensors[kW].data = std::make_shared<Bytes>(); }),
            "constant 'w' has 0 bytes of data, and f32[3] takes 12");
  EXPECT_EQ(refusal([](Graph& g) {
              g.tensors.push_back({"unread", {DType::i64, {2}}, std::make_shared<Bytes>(8)});
            }),
            "constant 'unread' has 8 bytes of data, and i64[2] takes 16");
}

TEST(VerifyGraph, NamesAreUnique) {
  EXPECT_EQ(refusal([](Graph& g) { g.tensors[kW].name = "x"; }), "there are two tensors named 'x'");
  EXPECT_EQ(refusal([](Graph& g) { g.tensors[kZ].name = "y"; }), "there are two tensors named 'y'");
}

// An Identity whose output has its operand's name, as the builder makes one of an input that is an output.
TEST(VerifyGraph, OnlyACopyThatIsAnOutputSharesItsName) {
  const auto copy = [](bool is_output, const char* name) {
    return [=](Graph& g) {
      g.tensors.push_back({name, {DType::f32, {2, 3}}, nullptr});
      g.nodes.push_back({"copy", IdentityOp{}, {kX}, 4});
      if (is_output) g.outputs.push_back(4);
    };
  };
  EXPECT_EQ(refusal(copy(true, "x")), "whole");
  EXPECT_EQ(refusal(copy(false, "x")), "there are two tensors named 'x'");
  EXPECT_EQ(refusal(copy(true, "w")), "there are two tensors named 'w'");
  EXPECT_EQ(refusal([&](Graph& g) {
              copy(true, "x")(g);
              g.nodes.back().op = MapOp{MapFunction::relu};
            }),
            "there are two tensors named 'x'");
}

TEST(VerifyGraph, ALoopThatAConditionEndsStacksNothingAndHasNoOther) {
  const StepLoop loop{"loop", 3};
  for (const bool stacks : {false, true}) {
    GraphBuilder builder("net");
    const TensorId x = *builder.input("x", {DType::f32, {3, 2}});
    const TensorId begins = *builder.input("c", {DType::boolean, {}});
    const TensorId part = *builder.node("part", TakeStepOp{loop, false}, {x}, "part");
    const TensorId same = *builder.node("same", ZipOp{ZipFunction::equal}, {part, part}, "same");
    const TensorId one = *builder.node("one", SliceOp{{0}, {1}, {1}}, {same}, "one");
    const TensorId ends = *builder.node("ends", StepsWhileOp{loop}, {begins, one}, "ends");
    EXPECT_TRUE(builder.output(ends));
    const GraphOp other = stacks ? GraphOp(StackStepsOp{loop, false, 0}) : GraphOp(StepsWhileOp{loop});
    const std::vector<TensorId> operands = stacks ? std::vector{part} : std::vector{begins, one};
    EXPECT_TRUE(builder.output(*builder.node("other", other, operands, "all")));
    const Status status = verify(builder.build());
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message,
              stacks ? "loop 'loop' has a condition, and 'all' a place for each of its steps"
                     : "loop 'loop' has two conditions");
  }
}

TEST(VerifyGraph, OutputsAreGivenByNodes) {
  EXPECT_EQ(refusal([](Graph& g) { g.outputs = {kW}; }), "an output is given by no node");
  EXPECT_EQ(refusal([](Graph& g) { g.outputs.push_back(12); }), "an output is given by no node");
}

}  // namespace
}  // namespace lathe
