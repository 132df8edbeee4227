#include "graph/onnx/nodes/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

using Numbers = std::vector<double>;

TEST(OnnxBatchNorm, TrainsByTheStatisticsOfItsData) {
  OnnxModel model;
  model.operator_set(15).input("x", {2, 2, 2}).initializer("s", {2}, {1, 2}).initializer("b", {2}, {0, 1});
  model.initializer("m", {2}, {10, 20}).initializer("v", {2}, {1, 4});
  model.node("n", "BatchNormalization", {"x", "s", "b", "m", "v"}, "y").gives("mean").gives("variance");
  model.attribute("training_mode", 1).attribute("momentum", 0.75).attribute("epsilon", 0.0);
  model.output("y").output("mean").output("variance");
  const auto near = [](const Numbers& numbers) {
    return ::testing::Pointwise(::testing::DoubleNear(1e-5), numbers);
  };
  const Values x{{2, 2, 2}, {1, 3, 0, 0, 5, 7, 4, 8}};
  const double first = std::sqrt(5), second = std::sqrt(11);
  EXPECT_THAT(run_network(model, {x}).data, near({-3 / first, -1 / first, 1 - 6 / second, 1 - 6 / second,
                                                  1 / first, 3 / first, 1 + 2 / second, 1 + 10 / second}));
  EXPECT_THAT(run_network(model, {x}, 1).data, near({8.5, 15.75}));
  EXPECT_THAT(run_network(model, {x}, 2).data, near({2, 5.75}));
}

TEST(OnnxReduce, FlagsAreAnyOrAll) {
  const auto reduced = [](const char* type) {
    OnnxModel model;
    model.operator_set(20).input("x", {3, 2}, onnx::TensorProto_DataType_BOOL).integers("a", {1});
    model.node("n", type, {"x", "a"}, "y").attribute("keepdims", 0).output("y");
    const Values y = run_network(model, {{{3, 2}, {0, 0, 0, 1, 1, 1}, DType::boolean}});
    EXPECT_EQ(y.dtype, DType::boolean);
    return y.data;
  };
  EXPECT_EQ(reduced("ReduceMax"), (Numbers{0, 1, 1}));
  EXPECT_EQ(reduced("ReduceMin"), (Numbers{0, 0, 1}));
}

}  // namespace
}  // namespace lathe
