// Element-wise ONNX operators of several operands: arithmetic of integers, comparisons, logic, Where. The
// reference against known values, and the network (interpreted task by task) against the reference.
#include "graph/operators/zip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "graph/simplify.h"
#include "network/fuse.h"

namespace lathe {
namespace {

constexpr int kF32 = onnx::TensorProto_DataType_FLOAT;
constexpr int kI64 = onnx::TensorProto_DataType_INT64;
constexpr int kI32 = onnx::TensorProto_DataType_INT32;
constexpr int kI8 = onnx::TensorProto_DataType_INT8;
constexpr int kU8 = onnx::TensorProto_DataType_UINT8;
constexpr int kU32 = onnx::TensorProto_DataType_UINT32;
constexpr int kU64 = onnx::TensorProto_DataType_UINT64;
constexpr int kBool = onnx::TensorProto_DataType_BOOL;

using Data = std::vector<double>;

OnnxModel pair_model(const char* type, int dtype, const Shape& x, const Shape& y) {
  OnnxModel model;
  model.operator_set(18);
  model.input("x", x, dtype).input("y", y, dtype).node("n", type, {"x", "y"}, "z").output("z");
  return model;
}

Data of_pairs(const char* type, int dtype, const Data& x, const Data& y) {
  SCOPED_TRACE(type);
  const Shape shape = {static_cast<int64_t>(x.size())};
  return run_network(pair_model(type, dtype, shape, shape), {{shape, x}, {shape, y}}).data;
}

TEST(Zip, IntegersDivideTowardsZero) {
  for (const int dtype : {kI64, kI32, kI8}) {
    EXPECT_EQ(of_pairs("Div", dtype, {7, -7, 7, -7, 6, -1, 1, 0}, {2, 2, -2, -2, -3, 2, -2, 5}),
              (Data{3, -3, -3, 3, -2, 0, 0, 0}));
  }
  EXPECT_EQ(of_pairs("Div", kI32, {5, -5, -2147483648.0}, {0, 0, -1}), (Data{0, 0, -2147483648.0}));
}

TEST(Zip, IntegersWrapAround) {
  EXPECT_EQ(of_pairs("Add", kI8, {100, -100}, {100, -100}), (Data{-56, 56}));
  EXPECT_EQ(of_pairs("Mul", kI32, {65536, 2147483647}, {65537, 2147483647}), (Data{65536, 1}));
  EXPECT_EQ(of_pairs("Sub", kI32, {-2147483648.0, 3}, {1, 5}), (Data{2147483647, -2}));
  EXPECT_EQ(of_pairs("Max", kI64, {-3, 4}, {2, -9}), (Data{2, 4}));
  EXPECT_EQ(of_pairs("Min", kI64, {-3, 4}, {2, -9}), (Data{-3, -9}));
}

TEST(Zip, UnsignedIntegersOf32And64Bits) {
  for (const int dtype : {kU32, kU64}) {
    EXPECT_EQ(of_pairs("Div", dtype, {4294967295.0, 7}, {2, 0}), (Data{2147483647, 0}));
    EXPECT_EQ(of_pairs("Mod", dtype, {4294967295.0, 7}, {10, 0}), (Data{5, 7}));
    EXPECT_EQ(of_pairs("Max", dtype, {4294967295.0, 7}, {10, 9}), (Data{4294967295.0, 9}));
    EXPECT_EQ(of_pairs("Less", dtype, {4294967295.0, 7}, {10, 9}), (Data{0, 1}));
  }
  EXPECT_EQ(of_pairs("Sub", kU32, {3, 5}, {5, 3}), (Data{4294967294.0, 2}));
}

TEST(Zip, BitsOfIntegers) {
  for (const int dtype : {kU8, kI8, kU32, kU64, kI64}) {
    EXPECT_EQ(of_pairs("BitwiseAnd", dtype, {12, 5}, {10, 3}), (Data{8, 1}));
    EXPECT_EQ(of_pairs("BitwiseOr", dtype, {12, 5}, {10, 3}), (Data{14, 7}));
    EXPECT_EQ(of_pairs("BitwiseXor", dtype, {12, 5}, {10, 3}), (Data{6, 6}));
  }
  EXPECT_EQ(of_pairs("BitwiseXor", kI8, {-1, 5}, {3, -128}), (Data{-4, -123}));
}

TEST(Zip, BitsAreShiftedOut) {
  const auto shifted = [](const char* direction, int dtype, const Data& x, const Data& y) {
    const Shape shape = {static_cast<int64_t>(x.size())};
    OnnxModel model = pair_model("BitShift", dtype, shape, shape);
    model.attribute("direction", direction);
    return run_network(model, {{shape, x}, {shape, y}}).data;
  };
  EXPECT_EQ(shifted("LEFT", kU8, {1, 255, 3}, {7, 4, 8}), (Data{128, 240, 0}));
  EXPECT_EQ(shifted("RIGHT", kU8, {128, 255, 3}, {7, 4, 200}), (Data{1, 15, 0}));
  EXPECT_EQ(shifted("RIGHT", kU32, {4294967295.0, 6}, {31, 33}), (Data{1, 0}));
  OnnxModel model = pair_model("BitShift", kU8, {2}, {2});
  EXPECT_EQ(import_error(model),
            "node 'n' (BitShift): attribute 'direction' is '', and must be LEFT or RIGHT");
}

TEST(Zip, ComparisonsOfNumbers) {
  const Data x = {1, 2, 3, NAN, NAN};
  const Data y = {2, 2, 2, 1, NAN};
  EXPECT_EQ(of_pairs("Equal", kF32, x, y), (Data{0, 1, 0, 0, 0}));
  EXPECT_EQ(of_pairs("Less", kF32, x, y), (Data{1, 0, 0, 0, 0}));
  EXPECT_EQ(of_pairs("LessOrEqual", kF32, x, y), (Data{1, 1, 0, 0, 0}));
  EXPECT_EQ(of_pairs("Greater", kF32, x, y), (Data{0, 0, 1, 0, 0}));
  EXPECT_EQ(of_pairs("GreaterOrEqual", kF32, x, y), (Data{0, 1, 1, 0, 0}));
  for (const int dtype : {kI64, kI32, kI8}) {
    EXPECT_EQ(of_pairs("Equal", dtype, {1, 2, -3}, {2, 2, -2}), (Data{0, 1, 0}));
    EXPECT_EQ(of_pairs("Greater", dtype, {1, 2, -3}, {2, 2, -4}), (Data{0, 0, 1}));
  }
}

TEST(Zip, LogicOfTruths) {
  const Data x = {0, 0, 1, 1};
  const Data y = {0, 1, 0, 1};
  EXPECT_EQ(of_pairs("And", kBool, x, y), (Data{0, 0, 0, 1}));
  EXPECT_EQ(of_pairs("Or", kBool, x, y), (Data{0, 1, 1, 1}));
  EXPECT_EQ(of_pairs("Xor", kBool, x, y), (Data{0, 1, 1, 0}));
  EXPECT_EQ(of_pairs("Equal", kBool, x, y), (Data{1, 0, 0, 1}));
}

TEST(Zip, ComparisonsBroadcastBothWays) {
  const Values z =
      run_network(pair_model("Less", kI64, {3, 1}, {1, 2}), {{{3, 1}, {1, 2, 3}}, {{1, 2}, {2, 3}}});
  EXPECT_EQ(z.shape, (Shape{3, 2}));
  EXPECT_EQ(z.dtype, DType::boolean);
  EXPECT_EQ(z.data, (Data{1, 1, 0, 1, 0, 0}));
}

TEST(Zip, NamesTypesThatItCannotTake) {
  EXPECT_EQ(import_error(pair_model("Add", kBool, {2}, {2})),
            "node 'n' (Add): input 0 is of type bool, and Lathe supports f32, f64 and integers here");
  EXPECT_EQ(import_error(pair_model("And", kF32, {2}, {2})),
            "node 'n' (And): input 0 is of type f32, and Lathe supports bool here");
  OnnxModel mixed;
  mixed.input("x", {2}, kI64).input("y", {2}).node("n", "Equal", {"x", "y"}, "z").output("z");
  EXPECT_EQ(import_error(mixed), "node 'n' (Equal): its operands are of types i64 and f32");
}

TEST(Zip, ConditionsAndChoicesJoinWhatMakesThem) {
  OnnxModel model;
  model.input("x", {2, 3}).initializer("limit", {}, {2.5F}).initializer("low", {1}, {-1});
  model.node("m", "Mul", {"x", "x"}, "square").node("c", "Greater", {"square", "limit"}, "large");
  model.node("w", "Where", {"large", "x", "low"}, "y").output("y");
  EXPECT_EQ(run_network(model, {numbered({2, 3})}).data, (Data{-1, 2, 3, 4, 5, 6}));
  const Graph graph = import_onnx_bytes(model.bytes(), "m.onnx").value();
  EXPECT_EQ(fuse(graph, plan_layouts(graph)).size(), 1u);
}

TEST(Where, BroadcastsThreeOperands) {
  OnnxModel model;
  model.input("c", {3, 1}, kBool).input("x", {2}, kI64).input("y", {1, 1, 1}, kI64);
  model.node("n", "Where", {"c", "x", "y"}, "z").output("z");
  const Values z = run_network(model, {{{3, 1}, {1, 0, 1}}, {{2}, {5, 6}}, {{1, 1, 1}, {-9}}});
  EXPECT_EQ(z.shape, (Shape{1, 3, 2}));
  EXPECT_EQ(z.data, (Data{5, 6, -9, -9, 5, 6}));
  EXPECT_EQ(z.dtype, DType::i64);
}

TEST(Where, TakesAConditionAndChoicesOfOneType) {
  OnnxModel model;
  model.input("c", {2}).input("x", {2}).node("n", "Where", {"c", "x", "x"}, "z").output("z");
  EXPECT_EQ(import_error(model), "node 'n' (Where): input 0 is of type f32, and Lathe supports bool here");
  OnnxModel mixed;
  mixed.input("c", {2}, kBool).input("x", {2}).input("y", {2}, kI64);
  mixed.node("n", "Where", {"c", "x", "y"}, "z").output("z");
  EXPECT_EQ(import_error(mixed), "node 'n' (Where): its operands are of types f32 and i64");
}

// 2^60 + 1 is no double: what comes of it is computed when the model runs, or moved as it is.
TEST(Zip, LongIntegersAreNeverFoldedInexactly) {
  OnnxModel model;
  const int64_t large = (int64_t{1} << 60) + 1;
  model.input("x", {1}, kI64).integers("k", {large}).integers("one", {1});
  model.node("a", "Add", {"k", "one"}, "sum").node("b", "Add", {"sum", "x"}, "y").output("y");
  const Graph graph = simplify(import_onnx_bytes(model.bytes(), "m.onnx").value());
  EXPECT_EQ(graph.nodes.size(), 2u) << to_string(graph);
  OnnxModel exact;
  exact.input("x", {1}, kI64).integers("k", {int64_t{1} << 52}).integers("one", {1});
  exact.node("a", "Add", {"k", "one"}, "sum").node("b", "Add", {"sum", "x"}, "y").output("y");
  EXPECT_EQ(simplify(import_onnx_bytes(exact.bytes(), "m.onnx").value()).nodes.size(), 1u);
}

// The largest integer stands for "to the end" in the bounds of slices, which models put together.
TEST(Zip, TheLargestIntegerIsMovedAsItIs) {
  OnnxModel model;
  model.input("x", {2, 3}).integers("end", {std::numeric_limits<int64_t>::max()}).integers("two", {2});
  model.integers("zeros", {0, 1});
  model.node("j", "Concat", {"two", "end"}, "ends").attribute("axis", 0);
  model.node("s", "Slice", {"x", "zeros", "ends"}, "y").output("y");
  EXPECT_EQ(run_network(model, {numbered({2, 3})}).data, (Data{2, 3, 5, 6}));
}

}  // namespace
}  // namespace lathe
