#include "graph/graph.h"

#include <gtest/gtest.h>

#include "graph/onnx/models.h"

namespace lathe {
namespace {

std::shared_ptr<const Bytes> zeros(int64_t elements) {
  return to_bytes(DType::f32, std::vector<double>(static_cast<size_t>(elements), 0));
}

TEST(Graph, BuilderRejectsWhatDoesNotFit) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {1, 4}});
  EXPECT_EQ(builder.input("x", {DType::f32, {1}}).error().message, "there are two tensors named 'x'");
  EXPECT_EQ(builder.constant("w", {DType::f32, {4, 2}}, zeros(7)).error().message,
            "constant 'w' has 28 bytes of data, and f32[4,2] takes 32");
  EXPECT_EQ(builder.input("big", {DType::f32, {1 << 30, 1 << 30, 1 << 30}}).error().message,
            "tensor 'big' has shape [1073741824,1073741824,1073741824], which is too large");
  EXPECT_EQ(builder.node("n", ZipOp{ZipFunction::add}, {x}, "y").error().message,
            "node 'n' (Add): it has 1 input, and takes 2");
}

TEST(Graph, AnOutputThatNothingComputesIsACopy) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {1}});
  ASSERT_TRUE(builder.output(x));
  EXPECT_EQ(builder.output(x).error().message, "output 'x' is listed twice");
  const Graph graph = builder.build();
  EXPECT_TRUE(verify(graph));
  EXPECT_EQ(to_string(graph),
            "graph g\n"
            "  input x f32[1]\n"
            "  x f32[1] = Identity() of x\n"
            "  output x\n");
}

TEST(Graph, VerifyFindsBrokenGraphs) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {1, 4}});
  const TensorId y = *builder.node("a", MapOp{MapFunction::relu}, {x}, "y");
  ASSERT_TRUE(builder.output(*builder.node("b", MapOp{MapFunction::relu}, {y}, "z")));
  const Graph good = builder.build();
  ASSERT_TRUE(verify(good));

  Graph swapped = good;
  std::swap(swapped.nodes[0], swapped.nodes[1]);
  EXPECT_EQ(verify(swapped).error().to_string(),
            "graph g: node 'b' reads a tensor that nothing before it gives");
  Graph retyped = good;
  retyped.tensors[y].type.shape = {4, 1};
  EXPECT_EQ(verify(retyped).error().message, "node 'a' gives f32[1,4], and its output is declared f32[4,1]");
  Graph unnamed = good;
  unnamed.tensors[y].name = "x";
  EXPECT_EQ(verify(unnamed).error().message, "there are two tensors named 'x'");
  Graph twice = good;
  twice.nodes[1].output = y;
  EXPECT_EQ(verify(twice).error().message, "node 'b' gives a tensor that is there already");
  Graph headless = good;
  headless.outputs = {x};
  EXPECT_EQ(verify(headless).error().message, "an output is given by no node");
}

TEST(Graph, ConstantsConvertBothWays) {
  for (DType dtype : {DType::i8, DType::i32, DType::i64, DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const std::vector<double> values{-3, 0, 100};
    const GraphTensor tensor{"c", {dtype, {3}}, to_bytes(dtype, values)};
    EXPECT_EQ(static_cast<int64_t>(tensor.data->size()), bytes_of(tensor.type));
    EXPECT_EQ(values_of(tensor), values) << to_string(dtype);
  }
}

TEST(Graph, ConsumersAndProducers) {
  GraphBuilder builder("g");
  const TensorId x = *builder.input("x", {DType::f32, {2}});
  const TensorId y = *builder.node("a", ZipOp{ZipFunction::add}, {x, x}, "y");
  ASSERT_TRUE(builder.output(*builder.node("b", ZipOp{ZipFunction::add}, {y, x}, "z")));
  const Graph graph = builder.build();
  EXPECT_EQ(consumers_of(graph)[x], (std::vector<size_t>{0, 1}));
  EXPECT_EQ(producers_of(graph), (std::vector<int>{-1, 0, 1}));
}

}  // namespace
}  // namespace lathe
