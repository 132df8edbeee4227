// Sizes that are followed through networks; what they compute at each size,
// tests/artifact/free_network_test.cpp asks.
#include "network/follow_size.h"

#include <gtest/gtest.h>

#include "graph/onnx/import.h"
#include "graph/onnx/models.h"
#include "session/network_file.h"

namespace lathe {
namespace {

class FollowSizeTest : public ::testing::Test {
 protected:
  // The network with the first axis of its only input, or another one, of that size.
  Result<FollowedSize> followed(const OnnxModel& model, size_t axis, int64_t size) const {
    const Graph graph = import_onnx(model_file(folder_, model), {}).value();
    return follow_size(graph, std::vector<FreeInput>{{graph.inputs[0], axis}}, size, {});
  }

  TemporaryFolder folder_;
};

// A window of one tap reads its own place alone.
TEST_F(FollowSizeTest, AConvolutionOfOneTapHasAnyLength) {
  OnnxModel model;
  model.input("x", {1, 2, 30}).initializer("w", {3, 2, 1}).output("y");
  model.node("c", "Conv", {"x", "w"}, "z").node("r", "Relu", {"z"}, "y");
  const Result<FollowedSize> longer = followed(model, 2, 300);
  ASSERT_TRUE(longer.has_value()) << longer.error().to_string();
  EXPECT_TRUE(longer->is_apart());
  EXPECT_EQ(longer->graph.tensor(longer->graph.outputs[0]).type.shape, (Shape{1, 3, 300}));
  OnnxModel wide;
  wide.input("x", {1, 2, 30}).initializer("w", {3, 2, 2}).output("y").node("c", "Conv", {"x", "w"}, "y");
  EXPECT_FALSE(followed(wide, 2, 300)) << "two taps are another place's too";
}

// Weights that a sum goes over have no other places; a sum of equal ones is that of any number of them.
TEST_F(FollowSizeTest, SumsOverWeightsHaveNoOtherLength) {
  const auto product = [](const std::vector<float>& weights) {
    OnnxModel model;
    model.input("x", {3, 4}).initializer("w", {4, 1}, weights).output("y");
    return model.node("m", "MatMul", {"x", "w"}, "y");
  };
  const Result<FollowedSize> shorter = followed(product({1, 2, 3, 4}), 1, 4);
  ASSERT_FALSE(shorter.has_value());
  EXPECT_EQ(shorter.error().message,
            "node 'm' (MatMul): it sums over the 4 places of constant 'w', which has no others");
  EXPECT_TRUE(followed(product({1, 1, 1, 1}), 1, 4).has_value());
}

// The threshold that the largest elements are sought by is one for each place of the batch.
TEST_F(FollowSizeTest, ALargeTopKHasAnyBatch) {
  OnnxModel model;
  model.input("x", {1, 700}).integers("k", {5}).output("y");
  model.node("t", "TopK", {"x", "k"}, "y").gives("places");
  const Result<FollowedSize> three = followed(model, 0, 3);
  ASSERT_TRUE(three.has_value()) << three.error().to_string();
  EXPECT_EQ(three->graph.tensor(three->graph.outputs[0]).type.shape, (Shape{3, 5}));
}

// Steps and directions are the same for each place of the batch, which states that begin with nothing get by
// the body; what they give is what each place gives alone.
TEST_F(FollowSizeTest, ALoopHasAnyBatch) {
  const auto model_of = [](int64_t batch) {
    OnnxModel model;
    model.input("x", {5, batch, 3}).initializer("w", {2, 16, 3}).initializer("r", {2, 16, 4}).output("y");
    model.node("l", "LSTM", {"x", "w", "r"}, "all").gives("last");
    model.attribute("hidden_size", 4).attribute("direction", "bidirectional");
    model.node("t", "Transpose", {"all"}, "turned").attribute("perm", {2, 0, 1, 3});
    model.integers("shape", {batch, 5, 8}).node("s", "Reshape", {"turned", "shape"}, "y").output("last");
    return model;
  };
  const Graph one = import_onnx(model_file(folder_, model_of(1)), {}).value();
  const Result<FollowedSize> three = followed(model_of(2), 1, 3);
  ASSERT_TRUE(three.has_value()) << three.error().to_string();
  EXPECT_TRUE(three->is_apart()) << *three->together;
  const Graph& graph = three->graph;
  EXPECT_EQ(graph.tensor(graph.outputs[0]).type.shape, (Shape{3, 5, 8}));
  EXPECT_EQ(graph.tensor(graph.outputs[1]).type.shape, (Shape{2, 3, 4}));
  const std::vector<Values> inputs = random_inputs(graph, 3);
  const std::vector<Values> all = evaluate_graph(graph, inputs).value();
  for (size_t place = 0; place < 3; ++place) {
    Values own{{5, 1, 3}, {}, inputs[0].dtype};
    for (size_t i = 0; i < 15; ++i) own.data.push_back(inputs[0].data[i / 3 * 9 + place * 3 + i % 3]);
    const std::vector<Values> alone = evaluate_graph(one, std::vector{own}).value();
    for (size_t i = 0; i < 40; ++i) EXPECT_EQ(alone[0].data[i], all[0].data[place * 40 + i]);
    for (size_t i = 0; i < 8; ++i) EXPECT_EQ(alone[1].data[i], all[1].data[i / 4 * 12 + place * 4 + i % 4]);
  }
}

// Tokens first, as multi-head attention is exported: of [5, 1, 8] as [5, 8] the single place is among the
// tokens, as [5, 2, 4] among the heads.
TEST_F(FollowSizeTest, ABatchBehindTheTokensIsNotAmongTheFeatures) {
  OnnxModel model;
  model.input("x", {1, 5, 8}).initializer("w", {8, 8}).integers("rows", {5, 8}).integers("heads", {5, 2, 4});
  model.node("t", "Transpose", {"x"}, "a")
      .attribute("perm", {1, 0, 2})
      .node("r", "Reshape", {"a", "rows"}, "b");
  model.node("m", "MatMul", {"b", "w"}, "c")
      .integers("back", {5, 1, 8})
      .node("s", "Reshape", {"c", "back"}, "d");
  model.node("h", "Reshape", {"d", "heads"}, "e")
      .node("u", "Transpose", {"e"}, "f")
      .attribute("perm", {1, 0, 2});
  model.node("k", "Transpose", {"e"}, "g").attribute("perm", {1, 2, 0}).node("p", "MatMul", {"f", "g"}, "y");
  model.output("y");
  const Result<FollowedSize> three = followed(model, 0, 3);
  ASSERT_TRUE(three.has_value()) << three.error().to_string();
  EXPECT_TRUE(three->is_apart()) << *three->together;
  EXPECT_EQ(three->graph.tensor(three->graph.outputs[0]).type.shape, (Shape{6, 5, 5}));
}

TEST_F(FollowSizeTest, TheStepsOfALoopAreNoBatch) {
  OnnxModel model;
  model.input("x", {5, 1, 3}).initializer("w", {1, 4, 3}).initializer("r", {1, 4, 4}).output("y");
  model.node("l", "RNN", {"x", "w", "r"}, "y").attribute("hidden_size", 4);
  const Result<FollowedSize> longer = followed(model, 0, 9);
  ASSERT_FALSE(longer.has_value());
  EXPECT_NE(longer.error().message.find("its steps are the free size"), std::string::npos)
      << longer.error().message;
}

}  // namespace
}  // namespace lathe
