#include "graph/index_inputs.h"

#include <gtest/gtest.h>

#include "graph/onnx/import.h"
#include "graph/onnx/models.h"

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

}  // namespace
}  // namespace lathe
