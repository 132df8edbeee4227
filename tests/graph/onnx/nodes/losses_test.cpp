#include "graph/onnx/nodes/losses.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/index_inputs.h"
#include "graph/network_runner.h"
#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "graph/simplify.h"

namespace lathe {
namespace {

Values said() { return {{3, 2}, {-1, -2, -3, -4, -5, -6}}; }
Values targets() { return {{3}, {0, 1, 1}}; }

// The loss of x [3,2] at targets t [3].
OnnxModel loss_model(const std::string& type, const std::vector<std::string>& inputs = {"x", "t"}) {
  OnnxModel model;
  model.input("x", {3, 2}).input("t", {3}, onnx::TensorProto_DataType_INT64).initializer("w", {2}, {1, 3});
  model.node("n", type, inputs, "y").output("y");
  return model;
}

std::vector<double> likelihood_loss(const OnnxModel& model) {
  return run_network(model, {said(), targets()}).data;
}

TEST(OnnxLosses, TakesWhatIsSaidOfTheTargets) {
  const std::string type = "NegativeLogLikelihoodLoss";
  EXPECT_EQ(likelihood_loss(loss_model(type).attribute("reduction", "none")), (std::vector<double>{1, 4, 6}));
  EXPECT_EQ(likelihood_loss(loss_model(type).attribute("reduction", "sum")), (std::vector<double>{11}));
  EXPECT_NEAR(likelihood_loss(loss_model(type)).at(0), 11.0 / 3, 1e-6);
}

TEST(OnnxLosses, WeighsClassesAndIgnoresOne) {
  const std::string type = "NegativeLogLikelihoodLoss";
  EXPECT_NEAR(likelihood_loss(loss_model(type, {"x", "t", "w"})).at(0), 31.0 / 7, 1e-6);
  OnnxModel ignoring = loss_model(type).attribute("ignore_index", 0);
  EXPECT_EQ(likelihood_loss(ignoring), (std::vector<double>{5}));
  ignoring.attribute("reduction", "none");
  EXPECT_EQ(likelihood_loss(ignoring), (std::vector<double>{0, 4, 6}));
}

// -100 is what PyTorch ignores unless told otherwise.
TEST(OnnxLosses, WhatIsIgnoredMayBeNoClass) {
  const Values ignored{{3}, {0, -100, 1}};
  const auto loss = [&](const std::vector<std::string>& inputs) {
    OnnxModel model = loss_model("NegativeLogLikelihoodLoss", inputs).attribute("ignore_index", -100);
    const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
    EXPECT_EQ(index_range(*graph, graph->inputs.at(1)), (Interval{-100, 1}));
    return run_network(model.attribute("reduction", "none"), {said(), ignored}).data;
  };
  EXPECT_EQ(loss({"x", "t"}), (std::vector<double>{1, 0, 6}));
  EXPECT_EQ(loss({"x", "t", "w"}), (std::vector<double>{1, 0, 18}));
}

// The losses at these targets of 0 and 1, of which one number is ignored.
std::vector<double> ignoring_loss(const char* type, int64_t ignored, const std::vector<double>& targets) {
  const OnnxModel model = loss_model(type).attribute("ignore_index", ignored).attribute("reduction", "none");
  return run_network(model, {said(), {{3}, targets}}).data;
}

// What is neither a class nor ignored and no error (index_range) has no loss; negative ones count from the
// end.
TEST(OnnxLosses, TargetsThatAreNoClassAreNone) {
  const std::string type = "NegativeLogLikelihoodLoss";
  const auto losses = ignoring_loss(type.c_str(), 255, {7, 255, -1});
  EXPECT_TRUE(std::isnan(losses.at(0)));
  EXPECT_EQ(losses.at(1), 0);
  EXPECT_EQ(losses.at(2), 6);
  EXPECT_TRUE(std::isnan(ignoring_loss("SoftmaxCrossEntropyLoss", -100, {0, 1, -3}).at(2)));
  for (const char* reduction : {"sum", "mean"}) {
    OnnxModel model = loss_model(type, {"x", "t", "w"}).attribute("ignore_index", -100);
    model.attribute("reduction", reduction);
    EXPECT_TRUE(std::isnan(run_network(model, {said(), {{3}, {0, 1, -50}}}).data.at(0)));
    EXPECT_FALSE(std::isnan(run_network(model, {said(), {{3}, {0, 1, -100}}}).data.at(0)));
  }
}

TEST(OnnxLosses, TargetsOutsideOfClassesAreRefused) {
  const auto range = [](int64_t ignored) {
    const OnnxModel model = loss_model("NegativeLogLikelihoodLoss").attribute("ignore_index", ignored);
    const Graph graph = import_onnx_bytes(model.bytes(), "m.onnx").value();
    EXPECT_EQ(index_range(simplify(graph), graph.inputs.at(1)), index_range(graph, graph.inputs.at(1)));
    return index_range(graph, graph.inputs.at(1)).value();
  };
  EXPECT_EQ(range(1), (Interval{-2, 1}));
  EXPECT_EQ(range(-100), (Interval{-100, 1}));
  EXPECT_EQ(range(255), (Interval{-2, 255}));
  OnnxModel constant = node_model({2, 3}, "NegativeLogLikelihoodLoss", {"x", "t"}).integers("t", {-100, 7});
  EXPECT_EQ(import_error(constant),
            "node 'n' (NegativeLogLikelihoodLoss): there is no place -100 in axis 1 of [2,3]");
  EXPECT_EQ(import_error(constant.attribute("ignore_index", -100)),
            "node 'n' (NegativeLogLikelihoodLoss): there is no place 7 in axis 1 of [2,3]");
}

TEST(OnnxLosses, CrossEntropyIsOfSoftmax) {
  OnnxModel model = loss_model("SoftmaxCrossEntropyLoss").attribute("reduction", "none");
  model.gives("logarithms").output("logarithms");
  const Values scores{{3, 2}, {0, 0, 0, 0, 0, 0}};
  const std::vector<double> loss = run_network(model, {scores, targets()}, 0).data;
  const std::vector<double> logarithms = run_network(model, {scores, targets()}, 1).data;
  ASSERT_EQ(loss.size(), 3u);
  ASSERT_EQ(logarithms.size(), 6u);
  EXPECT_NEAR(loss[2], 0.693147, 1e-5);
  EXPECT_NEAR(logarithms[5], -0.693147, 1e-5);
}

TEST(OnnxLosses, NamesTargetsThatDoNotFit) {
  OnnxModel model;
  model.input("x", {3, 2}).input("t", {2}, onnx::TensorProto_DataType_INT64);
  model.node("n", "NegativeLogLikelihoodLoss", {"x", "t"}, "y").output("y");
  EXPECT_EQ(import_error(model),
            "node 'n' (NegativeLogLikelihoodLoss): its scores [3,2] and targets [2] do not fit together");
}

}  // namespace
}  // namespace lathe
