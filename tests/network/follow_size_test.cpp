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

// The threshold that the largest elements are sought by is one for each place of the batch.
TEST_F(FollowSizeTest, ALargeTopKHasAnyBatch) {
  OnnxModel model;
  model.input("x", {1, 700}).integers("k", {5}).output("y");
  model.node("t", "TopK", {"x", "k"}, "y").gives("places");
  const Result<FollowedSize> three = followed(model, 0, 3);
  ASSERT_TRUE(three.has_value()) << three.error().to_string();
  EXPECT_EQ(three->graph.tensor(three->graph.outputs[0]).type.shape, (Shape{3, 5}));
}

}  // namespace
}  // namespace lathe
