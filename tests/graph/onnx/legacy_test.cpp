#include "graph/onnx/legacy.h"

#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

// `type` of operator set 6 of x [2,3,2], numbered, and an initializer w.
OnnxModel legacy_model(const std::string& type, const Shape& shape, std::vector<float> values) {
  OnnxModel model;
  model.operator_set(6).input("x", {2, 3, 2}).initializer("w", shape, std::move(values));
  model.node("n", type, {"x", "w"}, "y").output("y");
  return model;
}

TEST(OnnxLegacy, BroadcastsToTheAxisThatIsSaid) {
  OnnxModel middle = legacy_model("Add", {3}, {10, 20, 30});
  middle.attribute("broadcast", 1).attribute("axis", 1);
  EXPECT_EQ(run_network(middle, {numbered({2, 3, 2})}).data,
            (std::vector<double>{11, 12, 23, 24, 35, 36, 17, 18, 29, 30, 41, 42}));
  OnnxModel front = legacy_model("Sub", {2, 3}, {1, 3, 5, 7, 9, 11});
  front.attribute("broadcast", 1).attribute("axis", 0);
  EXPECT_EQ(run_network(front, {numbered({2, 3, 2})}).data,
            (std::vector<double>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
  OnnxModel negative = legacy_model("Mul", {3}, {1, 10, 100});
  negative.attribute("broadcast", 1).attribute("axis", -2);
  EXPECT_EQ(run_network(negative, {numbered({2, 3, 2})}).data,
            (std::vector<double>{1, 2, 30, 40, 500, 600, 7, 8, 90, 100, 1100, 1200}));
}

TEST(OnnxLegacy, BroadcastsToTheLastAxesWhereNoneIsSaid) {
  EXPECT_EQ(
      run_network(legacy_model("Mul", {2}, {1, -1}).attribute("broadcast", 1), {numbered({2, 3, 2})}).data,
      (std::vector<double>{1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12}));
}

TEST(OnnxLegacy, NamesOperandsThatDoNotFit) {
  EXPECT_EQ(import_error(legacy_model("Add", {2}, {1, 2})),
            "node 'n' (Add): its operands have the shapes [2,3,2] and [2], and it does not say that it "
            "broadcasts");
  EXPECT_EQ(import_error(legacy_model("Add", {3}, {1, 2, 3}).attribute("broadcast", 1).attribute("axis", 3)),
            "node 'n' (Add): attribute 'axis' is 3, and [3] does not lie in [2,3,2] from there on");
}

TEST(OnnxLegacy, SlopesOfPReluBelongToChannels) {
  const Values x{{2, 3, 2}, {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 5}};
  EXPECT_EQ(run_network(legacy_model("PRelu", {3}, {1, 2, 3}), {x}).data,
            (std::vector<double>{-1, -1, -2, -2, -3, -3, -1, -1, -2, -2, -3, 5}));
  EXPECT_EQ(run_network(legacy_model("PRelu", {1}, {2}), {x}).data,
            (std::vector<double>{-2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, 5}));
}

TEST(OnnxLegacy, ANodeWithoutOutputsGivesNothing) {
  for (const char* type : {"Add", "PRelu"}) {
    OnnxModel model = legacy_model(type, {3}, {1, 2, 3});
    if (type == std::string("Add")) model.attribute("broadcast", 1).attribute("axis", 1);
    model.proto.mutable_graph()->mutable_node(0)->clear_output();
    EXPECT_EQ(import_error(model), "no node gives the model's output 'y'");
    model.node("rest", "Neg", {"x"}, "y");
    EXPECT_EQ(run_network(model, {numbered({2, 3, 2})}).data.front(), -1);
  }
}

TEST(OnnxLegacy, InferenceIsWhatIsSupported) {
  OnnxModel model;
  model.operator_set(6).input("x", {1, 2}).node("n", "Dropout", {"x"}, "y").output("y");
  EXPECT_EQ(import_error(model), "node 'n' (Dropout): it is in training mode, and Lathe supports inference");
  EXPECT_EQ(run_network(model.attribute("is_test", 1), {numbered({1, 2})}).data, (std::vector<double>{1, 2}));
}

TEST(OnnxLegacy, OperatorSet7BroadcastsAsNumPy) {
  OnnxModel model = legacy_model("Add", {3}, {1, 2, 3});
  model.operator_set(7).attribute("broadcast", 1).attribute("axis", 1);
  EXPECT_NE(import_error(model), "imported");
}

}  // namespace
}  // namespace lathe
