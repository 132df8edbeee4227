// Dead nodes and tensors alone; with the other passes: simplify_test.cpp.
#include <gtest/gtest.h>

#include "graph/simplify.h"

namespace lathe {
namespace {

std::shared_ptr<const Bytes> three_reals() { return to_bytes(DType::f32, std::vector<double>{1, 2, 3}); }

TEST(RemoveDead, DropsWhatNoOutputNeedsAndNumbersTheRestAnew) {
  GraphBuilder builder("g");
  const TensorId unread = *builder.constant("unread", {DType::f32, {3}}, three_reals());
  const TensorId x = *builder.input("x", {DType::f32, {3}});
  const TensorId dead = *builder.node("dead", ZipOp{ZipFunction::mul}, {x, unread}, "d");
  EXPECT_TRUE(builder.node("deader", MapOp{MapFunction::exp}, {dead}, "e"));
  const TensorId w = *builder.constant("w", {DType::f32, {3}}, three_reals());
  const TensorId y = *builder.node("live", ZipOp{ZipFunction::add}, {x, w}, "y");
  EXPECT_TRUE(builder.node("behind", MapOp{MapFunction::relu}, {y}, "r"));
  ASSERT_TRUE(builder.output(y));
  const Graph result = remove_dead(builder.build());
  EXPECT_TRUE(verify(result));
  EXPECT_EQ(to_string(result),
            "graph g\n"
            "  input x f32[3]\n"
            "  constant w f32[3]\n"
            "  y f32[3] = Add() of x, w\n"
            "  output y\n");
  EXPECT_EQ(result.tensors.size(), 3U);
  EXPECT_EQ(values_of(result.tensors[1]), (std::vector<double>{1, 2, 3}));
}

TEST(RemoveDead, KeepsInputsThatNothingReads) {
  GraphBuilder builder("g");
  EXPECT_TRUE(builder.input("first", {DType::i64, {2}}));
  const TensorId x = *builder.input("x", {DType::f32, {3}});
  EXPECT_TRUE(builder.input("last", {DType::f32, {}}));
  ASSERT_TRUE(builder.output(*builder.node("n", MapOp{MapFunction::relu}, {x}, "y")));
  const Graph graph = builder.build();
  EXPECT_EQ(to_string(remove_dead(graph)), to_string(graph));
}

TEST(RemoveDead, KeepsNotesAndTheOrderOfOutputs) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {3}});
  const TensorId a = *builder.node("a", MapOp{MapFunction::relu}, {x}, "a");
  const TensorId b = *builder.node("b", MapOp{MapFunction::exp}, {a}, "b");
  ASSERT_TRUE(builder.output(b));
  ASSERT_TRUE(builder.output(a));
  Graph graph = builder.build();
  graph.notes = {"a note"};
  graph.data_files = {"weights.bin"};
  const Graph result = remove_dead(graph);
  EXPECT_EQ(result.notes, graph.notes);
  EXPECT_EQ(result.data_files, graph.data_files);
  EXPECT_EQ(to_string(result), to_string(graph));
}

}  // namespace
}  // namespace lathe
