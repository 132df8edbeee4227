#include "graph/index_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "graph/simplify.h"

namespace lathe {
namespace {

constexpr int kBool = onnx::TensorProto_DataType_BOOL, kI8 = onnx::TensorProto_DataType_INT8;
constexpr int kI32 = onnx::TensorProto_DataType_INT32, kI64 = onnx::TensorProto_DataType_INT64;

// What the input i of this type must stay inside of where casts to these types lead to places in an axis of
// ten.
std::optional<Interval> range_through(int from, const std::vector<int>& casts) {
  OnnxModel model;
  model.input("i", {5}, from).initializer("w", {10, 4});
  std::string places = "i";
  for (const int to : casts) {
    const std::string next = places + "c";
    model.node(next, "Cast", {places}, next).attribute("to", to);
    places = next;
  }
  model.node("g", "Gather", {"w", places}, "y").output("y");
  const Graph graph = import_onnx_bytes(model.bytes(), "m.onnx").value();
  return index_range(graph, graph.inputs.front());
}

TEST(IndexInputs, CastsThatHoldEveryValueKeepPlaces) {
  const Interval axis = {-10, 9};
  EXPECT_EQ(range_through(kI64, {}), axis);
  EXPECT_EQ(range_through(kI8, {kI64}), axis);
  EXPECT_EQ(range_through(kBool, {kI8, kI32, kI64}), axis);
}

TEST(IndexInputs, CastsThatMakeOtherValuesDoNot) {
  EXPECT_EQ(range_through(kI64, {kBool, kI64}), std::nullopt) << "50 is place 1";
  EXPECT_EQ(range_through(kI64, {kI32}), std::nullopt) << "2^32 is place 0";
  EXPECT_EQ(range_through(kI32, {kI8, kI32}), std::nullopt);
  EXPECT_EQ(range_through(kI32, {onnx::TensorProto_DataType_FLOAT, kI32}), std::nullopt);
}

// y = the rows of w [10,4] at Where(k == `compared`, `instead`, i) and, where it is told, at i.
OnnxModel replacing_model(const std::string& instead, const std::string& compared, bool reads_both = false) {
  OnnxModel model;
  model.input("i", {5}, kI64).input("j", {5}, kI64).initializer("w", {10, 4}).initializer("v", {8, 4});
  model.integers("zero", {0}).integers("far", {99}).integers("many", {1, 2, 3, 4, 5});
  model.node("e", "Equal", {"i", compared}, "c").node("r", "Where", {"c", instead, "i"}, "p");
  model.node("g", "Gather", {"w", "p"}, "y").output("y");
  if (reads_both) model.node("h", "Gather", {"v", "i"}, "z").output("z");
  return model;
}

TEST(IndexInputs, OneValueMayStandForAnother) {
  const auto range = [](const OnnxModel& model) {
    const Graph graph = import_onnx_bytes(model.bytes(), "m.onnx").value();
    return index_range(graph, graph.inputs.front());
  };
  EXPECT_EQ(range(replacing_model("zero", "far")), (Interval{-10, 99}));
  EXPECT_EQ(range(replacing_model("zero", "zero")), (Interval{-10, 9}));
  EXPECT_EQ(range(replacing_model("zero", "far", true)), (Interval{-8, 7}));
  EXPECT_EQ(range(replacing_model("zero", "many")), std::nullopt);
  EXPECT_EQ(range(replacing_model("j", "far")), std::nullopt);
}

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();

TensorId whole(GraphBuilder& builder, int64_t value) {
  return builder.constant("c", {DType::i64, {}}, to_bytes(DType::i64, std::vector{double(value)})).value();
}

// What the input s of one element must be where this comparison with 7 is that truth.
std::optional<Interval> values_where(ZipFunction function, bool truth, bool is_mirrored = false) {
  GraphBuilder builder("g");
  const TensorId s = builder.input("s", {DType::i64, {1}}).value();
  const TensorId one = builder.node("r", ReshapeOp{{}}, {s}, "one").value(), seven = whole(builder, 7);
  const std::vector<TensorId> operands = is_mirrored ? std::vector{seven, one} : std::vector{one, seven};
  const TensorId compared = builder.node("z", ZipOp{function}, operands, "compared").value();
  const TensorId condition = builder.node("v", ReshapeOp{{1}}, {compared}, "condition").value();
  if (!builder.require(condition, truth)) return std::nullopt;
  const Graph graph = builder.build();
  EXPECT_EQ(graph.required.size(), 1U);
  EXPECT_EQ(graph.required.front().input, "s");
  return graph.required.front().values;
}

TEST(IndexInputs, RequiredAreThoseThatCompareSo) {
  EXPECT_EQ(values_where(ZipFunction::equal, true), (Interval{7, 7}));
  EXPECT_EQ(values_where(ZipFunction::equal, true, true), (Interval{7, 7}));
  EXPECT_EQ(values_where(ZipFunction::equal, false), std::nullopt) << "no range";
  EXPECT_EQ(values_where(ZipFunction::less, true), (Interval{kLeast, 6}));
  EXPECT_EQ(values_where(ZipFunction::less, false), (Interval{7, kMost}));
  EXPECT_EQ(values_where(ZipFunction::less, true, true), (Interval{8, kMost}));
  EXPECT_EQ(values_where(ZipFunction::less_equal, true), (Interval{kLeast, 7}));
  EXPECT_EQ(values_where(ZipFunction::less_equal, false, true), (Interval{kLeast, 6}));
  EXPECT_EQ(values_where(ZipFunction::greater, true), (Interval{8, kMost}));
  EXPECT_EQ(values_where(ZipFunction::greater, false, true), (Interval{7, kMost}));
  EXPECT_EQ(values_where(ZipFunction::greater_equal, true), (Interval{7, kMost}));
  EXPECT_EQ(values_where(ZipFunction::add, true), std::nullopt);
}

TEST(IndexInputs, RequiredOfAFlagAreTheFlag) {
  GraphBuilder builder("g");
  const TensorId flag = builder.input("flag", {DType::boolean, {}}).value();
  const TensorId inverse = builder.node("n", MapOp{MapFunction::logical_not}, {flag}, "inverse").value();
  EXPECT_TRUE(builder.require(inverse, true));
  EXPECT_EQ(builder.build().required, (std::vector{RequiredValues{"flag", {0, 0}}}));
}

TEST(IndexInputs, RequiredAreNoneOfRealsAndOfWhatIsComputed) {
  GraphBuilder builder("g");
  const TensorId x = builder.input("x", {DType::f32, {}}).value(),
                 s = builder.input("s", {DType::i64, {}}).value();
  const TensorId seven = whole(builder, 7);
  const TensorId more = builder.node("p", ZipOp{ZipFunction::add}, {s, seven}, "more").value();
  const TensorId of_more = builder.node("e", ZipOp{ZipFunction::equal}, {more, seven}, "of_more").value();
  const TensorId of_reals = builder.node("l", ZipOp{ZipFunction::less}, {x, x}, "of_reals").value();
  EXPECT_FALSE(builder.require(of_more, true));
  EXPECT_FALSE(builder.require(of_reals, true));
  EXPECT_TRUE(builder.build().required.empty());
}

// Passes keep them, and callers are told with the places that indices may be.
TEST(IndexInputs, RequiredAreWhatAnInputMayHold) {
  GraphBuilder builder("g");
  const TensorId s = builder.input("s", {DType::i64, {}}).value(),
                 x = builder.input("x", {DType::f32, {9}}).value();
  const TensorId seven = whole(builder, 7);
  const TensorId less = builder.node("l", ZipOp{ZipFunction::less}, {s, seven}, "less").value();
  ASSERT_TRUE(builder.require(less, true));
  ASSERT_TRUE(builder.output(builder.node("g", GatherByOp{0}, {x, s}, "y").value()).has_value());
  const Graph graph = simplify(builder.build());
  EXPECT_EQ(index_range(graph, graph.inputs.front()), (Interval{-9, 6}));
  EXPECT_THAT(to_string(graph), ::testing::HasSubstr("  required s from -9223372036854775808 to 6\n"));
}

}  // namespace
}  // namespace lathe
