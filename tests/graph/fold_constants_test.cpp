// Constants alone; with the other passes: simplify_test.cpp.
#include <gtest/gtest.h>

#include "graph/simplify.h"

namespace lathe {
namespace {

TensorId add_numbers(GraphBuilder& builder, const char* name, DType dtype, const Shape& shape,
                     const std::vector<double>& values) {
  return *builder.constant(name, {dtype, shape}, to_bytes(dtype, values));
}

TEST(FoldConstants, FoldsChainsUpToWhatIsComputed) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {2}});
  const TensorId a = add_numbers(builder, "a", DType::f32, {2}, {-1, 2});
  const TensorId b = add_numbers(builder, "b", DType::f32, {}, {10});
  const TensorId r = *builder.node("r", MapOp{MapFunction::relu}, {a}, "r");
  const TensorId s = *builder.node("s", ZipOp{ZipFunction::add}, {r, b}, "s");
  ASSERT_TRUE(builder.output(*builder.node("m", ZipOp{ZipFunction::mul}, {x, s}, "y")));
  const Graph result = fold_constants(builder.build());
  EXPECT_TRUE(verify(result));
  EXPECT_EQ(to_string(result),
            "graph g\n"
            "  input x f32[2]\n"
            "  constant a f32[2]\n"
            "  constant b f32[]\n"
            "  constant r f32[2]\n"
            "  constant s f32[2]\n"
            "  y f32[2] = Mul() of x, s\n"
            "  output y\n");
  EXPECT_EQ(values_of(result.tensors[r]), (std::vector<double>{0, 2}));
  EXPECT_EQ(values_of(result.tensors[s]), (std::vector<double>{10, 12}));
}

TEST(FoldConstants, AViewSharesItsOperandsData) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {2}});
  const TensorId w = add_numbers(builder, "w", DType::f32, {2, 2}, {1, 2, 3, 4});
  const TensorId v = *builder.node("v", ReshapeOp{{4}}, {w}, "v");
  const TensorId i = *builder.node("i", IdentityOp{}, {v}, "i");
  const TensorId t = *builder.node("t", ReshapeOp{{2, 2}}, {i}, "t");
  ASSERT_TRUE(builder.output(*builder.node("n", ZipOp{}, {x, t}, "y")));
  const Graph result = fold_constants(builder.build());
  EXPECT_EQ(result.nodes.size(), 1U);
  for (const TensorId id : {v, i, t}) EXPECT_EQ(result.tensors[id].data, result.tensors[w].data);
}

TEST(FoldConstants, WhatGivesAnOutputIsComputedFromConstants) {
  GraphBuilder builder("g");
  const TensorId a = add_numbers(builder, "a", DType::f32, {1}, {-4});
  const TensorId t = *builder.node("t", MapOp{MapFunction::abs}, {a}, "t");
  const TensorId y = *builder.node("y", MapOp{MapFunction::sqrt}, {t}, "y");
  ASSERT_TRUE(builder.output(y));
  const Graph result = fold_constants(builder.build());
  ASSERT_EQ(result.nodes.size(), 1U);
  EXPECT_EQ(result.nodes[0].name, "y");
  EXPECT_FALSE(result.tensors[y].is_constant());
  EXPECT_EQ(values_of(result.tensors[t]), (std::vector<double>{4}));
}

// One element more, and the constant is not blown up.
TEST(FoldConstants, BlowsNoConstantUp) {
  for (const int64_t rows : {int64_t{1} << 12, (int64_t{1} << 12) + 1}) {
    GraphBuilder builder("g");
    const Shape shape{rows, int64_t{1} << 12};
    const TensorId x = *builder.input("x", {DType::i8, shape});
    const TensorId c = add_numbers(builder, "c", DType::i8, {}, {1});
    const TensorId e = *builder.node("e", ExpandOp{shape}, {c}, "e");
    ASSERT_TRUE(builder.output(*builder.node("n", ZipOp{}, {x, e}, "y")));
    EXPECT_EQ(fold_constants(builder.build()).nodes.size(), rows == 1 << 12 ? 1U : 2U) << rows;
  }
}

// A double does not hold what comes of large integers: moved they are whole, added they are left alone.
TEST(FoldConstants, LeavesIntegersThatADoubleDoesNotHold) {
  const auto nodes_left = [](GraphOp op, std::vector<double> values, bool is_pair) {
    GraphBuilder builder("g");
    const TensorId x = *builder.input("x", {DType::i64, {2}});
    const TensorId a = add_numbers(builder, "a", DType::i64, {2}, values);
    std::vector<TensorId> operands{a};
    if (is_pair) operands.push_back(a);
    const TensorId t = *builder.node("t", std::move(op), operands, "t");
    EXPECT_TRUE(builder.output(*builder.node("n", ZipOp{}, {x, t}, "y")));
    return fold_constants(builder.build()).nodes.size();
  };
  EXPECT_EQ(nodes_left(ZipOp{}, {1, 0x1p52 - 1}, true), 1U);
  EXPECT_EQ(nodes_left(ZipOp{}, {1, 0x1p52}, true), 2U);  // 2^53, which could be another number rounded
  EXPECT_EQ(nodes_left(ZipOp{}, {1, 0x1p53}, true), 2U);
  EXPECT_EQ(nodes_left(SliceOp{{1}, {-1}, {2}}, {1, 0x1p60}, false), 1U);
}

TEST(FoldConstants, IntegersOf32BitsWrapAround) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::i32, {1}});
  const TensorId a = add_numbers(builder, "a", DType::i32, {1}, {2147483647});
  const TensorId t = *builder.node("t", ZipOp{}, {a, a}, "t");
  ASSERT_TRUE(builder.output(*builder.node("n", ZipOp{}, {x, t}, "y")));
  EXPECT_EQ(values_of(fold_constants(builder.build()).tensors[t]), (std::vector<double>{-2}));
}

}  // namespace
}  // namespace lathe
