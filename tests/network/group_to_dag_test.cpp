// Groups as the programs that they become, as text; what they compute: partition_test.cpp.
#include "network/group_to_dag.h"

#include <gtest/gtest.h>

#include "expr/print.h"

namespace lathe {
namespace {

TensorId add_weight(GraphBuilder& builder, const char* name, const Shape& shape) {
  const std::vector<double> values(static_cast<size_t>(elements_of(shape)), 1);
  return *builder.constant(name, {DType::f32, shape}, to_bytes(DType::f32, values));
}

// The graph, of one output, and its groups' Dags.
struct Lowered {
  Graph graph;
  std::vector<GroupDag> groups;
};

Lowered lowered(GraphBuilder& builder, TensorId output) {
  EXPECT_TRUE(builder.output(output));
  Lowered result{builder.build(), {}};
  for (const FusedGroup& group : fuse(result.graph, plan_layouts(result.graph))) {
    Result<GroupDag> dag = group_to_dag(result.graph, group);
    EXPECT_TRUE(dag) << dag.error().to_string();
    if (dag) result.groups.push_back(std::move(*dag));
  }
  return result;
}

// The names of the tensors that a group's arguments stand for.
std::string arguments_of(const Lowered& l, size_t group) {
  std::string names;
  for (const TensorId id : l.groups[group].arguments)
    names += (names.empty() ? "" : " ") + l.graph.tensors[id].name;
  return names;
}

TEST(GroupToDag, AnAnchorAloneIsItsComputes) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {2, 3}});
  const TensorId w = add_weight(builder, "w", {3, 4});
  const Lowered l = lowered(builder, *builder.node("m", MatMulOp{}, {x, w}, "y"));
  ASSERT_EQ(l.groups.size(), 1U);
  EXPECT_EQ(to_string(l.groups[0].dag), "product[i:2, j:4] = sum(r:3) X0[i, r] * W0[r, j]\n");
  EXPECT_EQ(arguments_of(l, 0), "x w y");
  EXPECT_EQ(l.groups[0].constants, std::vector<std::string>{"W0"});
}

TEST(GroupToDag, AllWorkOnElementsIsOneCompute) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {1, 2, 4}});
  const TensorId r = *builder.input("r", {DType::f32, {1, 2, 4}});
  const TensorId w = add_weight(builder, "w", {2, 2, 1}), b = add_weight(builder, "b", {2});
  const TensorId row = add_weight(builder, "row", {4});
  const TensorId t = *builder.node("c", ConvOp{{{1}, {1}, {1}, {0}, {0}}, 1}, {x, w, b}, "t");
  const TensorId s = *builder.node("a", ZipOp{ZipFunction::sub}, {t, r}, "s");
  const TensorId u = *builder.node("m", ZipOp{ZipFunction::mul}, {row, s}, "u");
  const Lowered l = lowered(builder, *builder.node("n", MapOp{MapFunction::negate}, {u}, "y"));
  ASSERT_EQ(l.groups.size(), 1U);
  const std::string text = to_string(l.groups[0].dag);
  EXPECT_EQ(text.substr(text.find("out[")),
            "out[i:1, j:2, k:4] = -(W2[k] * (conv[i, j, k] + W1[j] - X1[i, j, k]))\n");
  EXPECT_EQ(arguments_of(l, 0), "x r w b row y");
  EXPECT_EQ(l.groups[0].constants, (std::vector<std::string>{"W0", "W1", "W2"}));
}

TEST(GroupToDag, WorkWithoutAnAnchorReadsItsOperands) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {2, 3}});
  const TensorId y = *builder.input("y", {DType::f32, {3}});
  const TensorId s = *builder.node("a", ZipOp{}, {x, y}, "s");
  const Lowered l = lowered(builder, *builder.node("b", ZipOp{ZipFunction::mul}, {s, x}, "z"));
  ASSERT_EQ(l.groups.size(), 1U);
  EXPECT_EQ(to_string(l.groups[0].dag), "out[i:2, j:3] = (X0[i, j] + X1[j]) * X0[i, j]\n");
  EXPECT_TRUE(l.groups[0].constants.empty());
}

// The copy of an input that is an output: its operand lies in the result's shape.
TEST(GroupToDag, ACopyReadsItsOperandInItsOwnShape) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::i64, {2, 3}});
  const Lowered l = lowered(builder, *builder.node("r", ReshapeOp{{6}}, {x}, "y"));
  ASSERT_EQ(l.groups.size(), 1U);
  EXPECT_EQ(to_string(l.groups[0].dag), "input X0[6] i64\nout[i:6] = X0[i]\n");
  EXPECT_EQ(arguments_of(l, 0), "x y");
}

TEST(GroupToDag, EqualGroupsGiveEqualTextWhateverTheirNames) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {2, 2}});
  const TensorId v = add_weight(builder, "v", {2, 2}), w = add_weight(builder, "w", {2, 2});
  const TensorId t = *builder.node("first", MatMulOp{}, {x, v}, "t");
  const TensorId r = *builder.node("r", MapOp{}, {t}, "r");
  const TensorId u = *builder.node("second", MatMulOp{}, {r, w}, "u");
  const Lowered l = lowered(builder, *builder.node("s", MapOp{}, {u}, "s"));
  ASSERT_EQ(l.groups.size(), 2U);
  EXPECT_EQ(to_string(l.groups[0].dag), to_string(l.groups[1].dag));
  EXPECT_EQ(arguments_of(l, 0), "x v r");
  EXPECT_EQ(arguments_of(l, 1), "r w s");
}

TEST(GroupToDag, TypesAreTheGraphs) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::i8, {3}});
  const TensorId t = *builder.node("c", CastOp{DType::i32}, {x}, "t");
  const TensorId y = *builder.input("y", {DType::i32, {3}});
  const Lowered l = lowered(builder, *builder.node("s", ZipOp{ZipFunction::less}, {t, y}, "z"));
  ASSERT_EQ(l.groups.size(), 1U);
  EXPECT_EQ(l.groups[0].dag.inputs[0]->dtype, DType::i8);
  EXPECT_EQ(l.groups[0].dag.inputs[1]->dtype, DType::i32);
  EXPECT_EQ(l.groups[0].dag.outputs[0]->dtype, DType::boolean);
}

// More iterations than can be counted are no Dag: the sentence names the anchor.
TEST(GroupToDag, NamesTheAnchorOfWhatIsNoDag) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {1 << 20, 1 << 20}});
  const TensorId y = *builder.input("y", {DType::f32, {1 << 20, 1 << 20}});
  EXPECT_TRUE(builder.output(*builder.node("m", MatMulOp{}, {x, y}, "z")));
  const Graph graph = builder.build();
  EXPECT_EQ(group_to_dag(graph, fuse(graph, plan_layouts(graph))[0]).error().to_string(),
            "node 'm' (MatMul): compute 'product' has 1.15e+18 points; at most 2.81e+14 can be counted");
}

}  // namespace
}  // namespace lathe
