// Tensors kept in f16 and bf16: which, what reads them, and what the network then gives.
#include "graph/narrow_storage.h"

#include <gtest/gtest.h>

#include <cmath>

#include "expr/print.h"
#include "graph/network_runner.h"
#include "graph/reference.h"

namespace lathe {
namespace {

TensorId add_numbers(GraphBuilder& builder, const char* name, const Shape& shape, double first = 1,
                     double step = 1) {
  std::vector<double> values(static_cast<size_t>(elements_of(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + step * static_cast<double>(i);
  return *builder.constant(name, {DType::f32, shape}, to_bytes(DType::f32, values));
}

Graph narrowed(GraphBuilder& builder, TensorId output, const NarrowStorage& storage) {
  EXPECT_TRUE(builder.output(output));
  Graph result = narrow_storage(builder.build(), storage);
  const Status valid = verify(result);
  EXPECT_TRUE(valid) << valid.error().to_string();
  EXPECT_EQ(to_string(narrow_storage(result, storage)), to_string(result));
  return result;
}

Values numbered(const Shape& shape) {
  Values values{shape, std::vector<double>(static_cast<size_t>(elements_of(shape)))};
  for (size_t i = 0; i < values.data.size(); ++i) values.data[i] = static_cast<double>(i % 7) - 3;
  return values;
}

// Expects the kernels of the graph's partition to give what the reference gives, numbers being small
// integers.
void expect_kernels_agree(const Graph& graph) {
  std::vector<Values> inputs;
  for (const TensorId id : graph.inputs) inputs.push_back(numbered(graph.tensors[id].type.shape));
  const Result<Partition> parts = partition(graph);
  ASSERT_TRUE(parts) << parts.error().to_string();
  const std::vector<Values> expected = *evaluate_graph(graph, inputs);
  const std::vector<Values> given = run_partition(graph, *parts, inputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(given[i].data.size(), expected[i].data.size());
    for (size_t k = 0; k < expected[i].data.size(); ++k)
      EXPECT_NEAR(given[i].data[k], expected[i].data[k], 1e-5 * (1 + std::abs(expected[i].data[k])));
  }
}

TEST(NarrowStorage, TheWeightsOfProductsAre) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {2, 3}});
  const TensorId w = add_numbers(builder, "w", {3, 2}, 1, 0x1p-9), b = add_numbers(builder, "b", {2});
  const TensorId m = *builder.node("m", MatMulOp{}, {x, w}, "m");
  const Graph graph = narrowed(builder, *builder.node("a", ZipOp{}, {m, b}, "y"), {DType::bf16});
  EXPECT_EQ(to_string(graph),
            "graph g\n"
            "  input x f32[2,3]\n"
            "  constant b f32[2]\n"
            "  constant w.bf16 bf16[3,2]\n"
            "  m f32[2,2] = MatMul() of x, w.bf16\n"
            "  y f32[2,2] = Add() of m, b\n"
            "  output y\n");
  // bf16 has eight bits: halves between its numbers go to the even ones.
  EXPECT_EQ(values_of(graph.tensors[graph.nodes[0].inputs[1]]),
            (std::vector<double>{1, 1, 1, 1.0078125, 1.0078125, 1.0078125}));
  EXPECT_EQ(to_string(partition(graph)->tasks[0].dag),
            "input X0[2, 3]\n"
            "input W0[3, 2] bf16\n"
            "input W1[2]\n"
            "product[i:2, j:2] = sum(r:3) X0[i, r] * f32(W0[r, j])\n"
            "out[i:2, j:2] = product[i, j] + W1[j]\n");
  expect_kernels_agree(graph);
}

TEST(NarrowStorage, ConstantsOfOneDataStayOne) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {2, 3}});
  const TensorId w = add_numbers(builder, "w", {3, 3});
  const TensorId v = *builder.constant("v", {DType::f32, {3, 3}}, builder.tensor(w).data);
  const TensorId m = *builder.node("m", MatMulOp{}, {x, w}, "m");
  const Graph graph = narrowed(builder, *builder.node("n", GemmOp{}, {m, v}, "y"), {DType::f16});
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.tensors[graph.nodes[0].inputs[1]].data, graph.tensors[graph.nodes[1].inputs[1]].data);
}

TEST(NarrowStorage, NumbersBeyondTheTypeStayAsTheyAre) {
  for (const auto& [dtype, is_kept] : {std::pair{DType::f16, true}, {DType::bf16, false}}) {
    GraphBuilder builder("g");
    const TensorId x = *builder.input("x", {DType::f32, {2, 2}});
    const TensorId w = add_numbers(builder, "w", {2, 2}, 65536);
    const Graph graph = narrowed(builder, *builder.node("m", MatMulOp{}, {x, w}, "y"), {dtype});
    EXPECT_EQ(graph.tensors[graph.nodes[0].inputs[1]].type.dtype, is_kept ? DType::f32 : dtype);
    EXPECT_EQ(graph.notes, is_kept
                               ? std::vector<std::string>{"constant 'w' holds numbers beyond those of f16, "
                                                          "and is kept as it is"}
                               : std::vector<std::string>());
  }
}

TEST(NarrowStorage, LargeTablesAreAndWhatIsLookedUpIsWidened) {
  for (const auto& [rows, is_narrow] : {std::pair{int64_t{1024}, true}, {int64_t{16}, false}}) {
    GraphBuilder builder("g");
    const TensorId ids = *builder.input("ids", {DType::i64, {3}});
    const TensorId table = add_numbers(builder, "t", {rows, 4});
    const TensorId looked = *builder.node("g", GatherByOp{0}, {table, ids}, "l");
    const Graph graph = narrowed(builder, *builder.node("n", MapOp{MapFunction::negate}, {looked}, "y"), {});
    EXPECT_EQ(graph.nodes.size(), is_narrow ? 3U : 2U);
    EXPECT_EQ(graph.tensors[graph.nodes[0].inputs[0]].type.dtype, is_narrow ? DType::bf16 : DType::f32);
    const Result<Partition> parts = partition(graph);
    ASSERT_TRUE(parts);
    EXPECT_EQ(parts->uses.size(), 1U);  // the cast is no kernel of its own
  }
}

TEST(NarrowStorage, DepthwiseWeightsAreNot) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {1, 4, 5, 5}});
  const TensorId w = add_numbers(builder, "w", {4, 1, 3, 3});
  const ConvOp op{{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 4};
  const Graph graph = narrowed(builder, *builder.node("c", op, {x, w}, "y"), {DType::bf16, true});
  EXPECT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.tensors[graph.nodes[0].inputs[1]].type.dtype, DType::f32);
}

// A block of convolutions with a residual sum, a concatenation, a pool and a softmax behind.
TensorId add_block(GraphBuilder& builder, TensorId x) {
  const SlidingWindow three{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  const TensorId w1 = add_numbers(builder, "w1", {4, 3, 3, 3}, -2, 0.0625);
  const TensorId w2 = add_numbers(builder, "w2", {4, 4, 3, 3}, -1, 0.03125);
  const TensorId w3 = add_numbers(builder, "w3", {16, 8}, -1, 0.015625);
  const TensorId c1 = *builder.node("c1", ConvOp{three, 1}, {x, w1}, "c1");
  const TensorId r1 = *builder.node("r1", MapOp{MapFunction::relu}, {c1}, "r1");
  const TensorId c2 = *builder.node("c2", ConvOp{three, 1}, {r1, w2}, "c2");
  const TensorId sum = *builder.node("sum", ZipOp{}, {c2, r1}, "sum");
  const TensorId joined = *builder.node("joined", ConcatOp{1}, {sum, r1}, "joined");
  const TensorId pooled =
      *builder.node("pooled", MaxPoolOp{{{2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}}, {joined}, "pooled");
  const TensorId flat = *builder.node("flat", ReshapeOp{{2, 16}}, {pooled}, "flat");
  return *builder.node("logits", MatMulOp{}, {flat, w3}, "logits");
}

TEST(NarrowStorage, WithActivationsTheDataOfProductsAreToo) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {1, 3, 4, 4}});
  const Graph graph = narrowed(builder, add_block(builder, x), {DType::bf16, true});
  EXPECT_EQ(to_string(graph),
            "graph g\n"
            "  input x f32[1,3,4,4]\n"
            "  constant w1.bf16 bf16[4,3,3,3]\n"
            "  constant w2.bf16 bf16[4,4,3,3]\n"
            "  constant w3.bf16 bf16[16,8]\n"
            "  x.bf16 bf16[1,3,4,4] = Cast(bf16) of x\n"
            "  c1 f32[1,4,4,4] = Conv(kernel [3,3], pads [1,1,1,1]) of x.bf16, w1.bf16\n"
            "  r1 f32[1,4,4,4] = Relu() of c1\n"
            "  r1.bf16 bf16[1,4,4,4] = Cast(bf16) of r1\n"
            "  c2 f32[1,4,4,4] = Conv(kernel [3,3], pads [1,1,1,1]) of r1.bf16, w2.bf16\n"
            "  sum f32[1,4,4,4] = Add() of c2, r1.bf16\n"
            "  sum.bf16 bf16[1,4,4,4] = Cast(bf16) of sum\n"
            "  joined.bf16 bf16[1,8,4,4] = Concat(axis 1) of sum.bf16, r1.bf16\n"
            "  pooled f32[1,8,2,2] = MaxPool(kernel [2,2], strides [2,2]) of joined.bf16\n"
            "  pooled.bf16 bf16[1,8,2,2] = Cast(bf16) of pooled\n"
            "  flat.bf16 bf16[2,16] = Reshape([2,16]) of pooled.bf16\n"
            "  logits f32[2,8] = MatMul() of flat.bf16, w3.bf16\n"
            "  output logits\n");
  // No cast but the input's is a kernel of its own.
  EXPECT_EQ(partition(graph)->uses.size(), 6U);
  expect_kernels_agree(graph);
}

TEST(NarrowStorage, WithoutActivationsAllElseStays) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {1, 3, 4, 4}});
  const Graph graph = narrowed(builder, add_block(builder, x), {DType::f16});
  for (const GraphNode& node : graph.nodes) EXPECT_EQ(graph.tensors[node.output].type.dtype, DType::f32);
  expect_kernels_agree(graph);
}

TEST(NarrowStorage, AnOutputKeepsItsType) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {4, 4}});
  const TensorId w = add_numbers(builder, "w", {4, 4});
  const TensorId t = *builder.node("t", MapOp{MapFunction::relu}, {x}, "t");
  const TensorId turned = *builder.node("r", TransposeOp{{1, 0}}, {t}, "turned");
  ASSERT_TRUE(builder.output(turned));
  const Graph graph =
      narrowed(builder, *builder.node("m", MatMulOp{}, {turned, w}, "y"), {DType::bf16, true});
  for (const TensorId id : graph.outputs) EXPECT_EQ(graph.tensors[id].type.dtype, DType::f32);
  expect_kernels_agree(graph);
}

}  // namespace
}  // namespace lathe
