#include "graph/onnx/nodes/causal_conv.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

// Two channels of three places; a kernel of three.
OnnxModel conv(const std::vector<std::string>& inputs) {
  OnnxModel model;
  model.operator_set(27).input("x", {1, 2, 3}).initializer("w", {2, 1, 3}, {1, 10, 100, 0, 0, 1});
  model.initializer("b", {2}, {0.5, 0});
  return model.node("n", "CausalConvWithState", inputs, "y").gives("state").output("y").output("state");
}

const Values kData{{1, 2, 3}, {1, 2, 3, 4, 5, 6}};

TEST(OnnxCausalConv, LooksBackOverZerosOrAPast) {
  EXPECT_EQ(run_network(conv({"x", "w", "b"}), {kData}).data, (Numbers{100.5, 210.5, 321.5, 4, 5, 6}));
  EXPECT_EQ(run_network(conv({"x", "w", "b"}), {kData}, 1).data, (Numbers{2, 3, 5, 6}));
  OnnxModel model = conv({"x", "w", "", "p"});
  model.input("p", {1, 2, 2});
  const Values past{{1, 2, 2}, {7, 8, 9, 9}};
  EXPECT_EQ(run_network(model, {kData, past}).data, (Numbers{187, 218, 321, 4, 5, 6}));
}

TEST(OnnxCausalConv, HandsOnAPastLongerThanItsData) {
  OnnxModel model;
  model.operator_set(27).input("x", {1, 1, 1}).input("p", {1, 1, 2}).initializer("w", {1, 1, 3}, {1, 1, 1});
  model.node("n", "CausalConvWithState", {"x", "w", "", "p"}, "y").gives("state").output("state");
  EXPECT_EQ(run_network(model, {{{1, 1, 1}, {3}}, {{1, 1, 2}, {1, 2}}}).data, (Numbers{2, 3}));
}

TEST(OnnxCausalConv, EndsInAnActivation) {
  const Numbers plain = run_network(conv({"x", "w"}), {kData}).data;
  for (const char* name : {"silu", "swish"}) {
    const Numbers result = run_network(conv({"x", "w"}).attribute("activation", name), {kData}).data;
    for (size_t i = 0; i < plain.size(); ++i)
      EXPECT_NEAR(result[i], plain[i] / (1 + std::exp(-plain[i])), 1e-4);
  }
}

TEST(OnnxCausalConv, NamesWhatItCannotTake) {
  EXPECT_EQ(
      import_error(conv({"x", "w"}).attribute("activation", "relu")),
      "node 'n' (CausalConvWithState): attribute 'activation' is 'relu', and must be none, silu or swish");
  EXPECT_EQ(
      import_error(conv({"x", "b"})),
      "node 'n' (CausalConvWithState): its weights [2] are not those of each channel of its data [1,2,3]");
  EXPECT_EQ(import_error(conv({"x", "w", "", "x"})),
            "node 'n' (CausalConvWithState): input 3 has shape [1,2,3], and must be [1,2,2]");
}

}  // namespace
}  // namespace lathe
