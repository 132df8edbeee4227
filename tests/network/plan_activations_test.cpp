// Where tensors between uses lie; a residual network: partition_test.cpp.
#include <gtest/gtest.h>

#include "graph/network_runner.h"

namespace lathe {
namespace {

// Copies of x one after the other, each a group of its own.
Graph chain_of(size_t length, const Shape& shape, bool keeps_all) {
  GraphBuilder builder("g");
  TensorId last = *builder.input("x", {DType::f32, shape});
  std::vector<TensorId> all;
  for (size_t i = 0; i < length; ++i) {
    last = *builder.node("t" + std::to_string(i), TileOp{{1, 1}}, {last}, "y" + std::to_string(i));
    all.push_back(last);
  }
  if (!keeps_all) all = {last};
  for (const TensorId id : all) EXPECT_TRUE(builder.output(id));
  return builder.build();
}

TEST(PlanActivationsOf, AChainTakesTwoPlaces) {
  const Graph graph = chain_of(6, {4, 5}, false);  // 80 bytes, 128 in whole lines
  const Partition parts = partition(graph).value();
  const ActivationPlan plan = plan_activations(graph, parts);
  EXPECT_EQ(plan.bytes, 256);
  EXPECT_EQ(plan.offsets, (std::vector<int64_t>{-1, 0, 128, 0, 128, 0, -1}));
}

TEST(PlanActivationsOf, WhatTheCallerHasIsNotInTheArena) {
  const Graph graph = chain_of(3, {4, 5}, true);
  const ActivationPlan plan = plan_activations(graph, partition(graph).value());
  EXPECT_EQ(plan.bytes, 0);
  EXPECT_EQ(plan.offsets, (std::vector<int64_t>(4, -1)));
}

TEST(PlanActivationsOf, ATensorLivesUpToItsLastReader) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {4, 4}});
  const TensorId a = *builder.node("a", TileOp{{1, 1}}, {x}, "a");
  const TensorId b = *builder.node("b", TileOp{{1, 1}}, {a}, "b");
  const TensorId c = *builder.node("c", TileOp{{1, 1}}, {b}, "c");
  ASSERT_TRUE(builder.output(*builder.node("d", MatMulOp{}, {c, a}, "d")));
  const Graph graph = builder.build();
  const ActivationPlan plan = plan_activations(graph, partition(graph).value());
  EXPECT_EQ(plan.bytes, 3 * 64);
  EXPECT_NE(plan.offsets[a], plan.offsets[b]);
  EXPECT_NE(plan.offsets[a], plan.offsets[c]);
  EXPECT_NE(plan.offsets[b], plan.offsets[c]);
}

// Constants lie elsewhere, and a view lies where its operand does.
TEST(PlanActivationsOf, ConstantsAndViewsTakeNoPlace) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {2, 8}});
  const std::vector<double> ones(16, 1);
  const TensorId w = *builder.constant("w", {DType::f32, {4, 4}}, to_bytes(DType::f32, ones));
  const TensorId t = *builder.node("t", TileOp{{1, 1}}, {x}, "t");
  const TensorId v = *builder.node("v", ReshapeOp{{4, 4}}, {t}, "v");
  ASSERT_TRUE(builder.output(*builder.node("m", MatMulOp{}, {v, w}, "y")));
  const Graph graph = builder.build();
  const ActivationPlan plan = plan_activations(graph, partition(graph).value());
  EXPECT_EQ(plan.offsets[w], -1);
  EXPECT_EQ(plan.offsets[v], -1);
  EXPECT_EQ(plan.offsets[t], 0);
  EXPECT_EQ(plan.bytes, 64);
}

TEST(PlanActivationsOf, SizesAreThoseOfTheElementTypes) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::i64, {3, 5}});
  const TensorId t = *builder.node("t", TileOp{{1, 1}}, {x}, "t");     // 120 bytes
  const TensorId c = *builder.node("c", CastOp{DType::i8}, {t}, "c");  // joins it: 15 bytes
  ASSERT_TRUE(builder.output(*builder.node("u", TileOp{{1, 1}}, {c}, "u")));
  const Graph graph = builder.build();
  const ActivationPlan plan = plan_activations(graph, partition(graph).value());
  EXPECT_EQ(plan.offsets[t], -1);
  EXPECT_EQ(plan.offsets[c], 0);
  EXPECT_EQ(plan.bytes, 64);
}

}  // namespace
}  // namespace lathe
