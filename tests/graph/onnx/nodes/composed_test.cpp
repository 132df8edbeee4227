#include "graph/onnx/nodes/composed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

OnnxModel norm_model(const std::string& type, double epsilon) {
  OnnxModel model;
  model.operator_set(23).input("x", {2, 2}).initializer("scale", {2}, {1, 10});
  model.node("n", type, {"x", "scale"}, "y").attribute("epsilon", epsilon).output("y");
  return model;
}

TEST(OnnxComposed, LayerNormalizationGivesItsStatistics) {
  OnnxModel model = norm_model("LayerNormalization", 0);
  model.gives("mean").gives("inverse").output("mean").output("inverse");
  const Values x{{2, 2}, {3, 7, -1, 1}};
  EXPECT_EQ(run_network(model, {x}, 0).data, (std::vector<double>{-1, 10, -1, 10}));
  EXPECT_EQ(run_network(model, {x}, 1).data, (std::vector<double>{5, 0}));
  EXPECT_EQ(run_network(model, {x}, 1).shape, (Shape{2, 1}));
  EXPECT_EQ(run_network(model, {x}, 2).data, (std::vector<double>{0.5, 1}));
}

TEST(OnnxComposed, RmsNormalizationDividesByTheRootOfTheMeanSquare) {
  const Values x{{2, 2}, {1, 7, 3, -3}};
  EXPECT_EQ(run_network(norm_model("RMSNormalization", 0), {x}).data, (std::vector<double>{0.2, 14, 1, -10}));
  EXPECT_EQ(run_network(norm_model("RMSNormalization", 16), {x}).data[2], 0.6);
  EXPECT_EQ(
      run_network(norm_model("RMSNormalization", 0).attribute("axis", 0), {{{2, 2}, {1, 1, 1, 1}}}).data,
      (std::vector<double>{1, 10, 1, 10}));
}

TEST(OnnxComposed, TheMaskOfDropoutKeepsAll) {
  for (const std::vector<std::string>& inputs : {std::vector<std::string>{"x"}, {"x", "ratio"}}) {
    OnnxModel model;
    model.input("x", {2}).initializer("ratio", {}, {0.25F}).node("n", "Dropout", inputs, "y");
    model.gives("mask").output("y").output("mask");
    EXPECT_EQ(run_network(model, {numbered({2})}, 0).data, (std::vector<double>{1, 2}));
    EXPECT_EQ(run_network(model, {numbered({2})}, 1).data, (std::vector<double>{1, 1}));
  }
}

OnnxModel one_hot_model(const Shape& indices, int64_t depth, int64_t axis) {
  OnnxModel model;
  model.operator_set(11).input("i", indices, onnx::TensorProto_DataType_INT64).integers("d", {depth});
  model.initializer("v", {2}, {-1, 5}).node("n", "OneHot", {"i", "d", "v"}, "y").attribute("axis", axis);
  model.output("y");
  return model;
}

TEST(OneHot, ADepthBeyondReasonIsRefused) {
  EXPECT_EQ(import_error(one_hot_model({2}, int64_t{1} << 37, -1)),
            "node 'n' (OneHot): its depth is 137438953472, and Lathe supports at most 16777216");
}

// Negative indices count from the end; one beyond both ends names no place.
TEST(OneHot, IsTheSecondNumberWhereTheIndexSays) {
  const Values result = run_network(one_hot_model({4}, 3, -1), {{{4}, {1, -1, 3, -4}, DType::i64}});
  EXPECT_EQ(result.shape, (Shape{4, 3}));
  EXPECT_EQ(result.data, (std::vector<double>{-1, 5, -1, -1, -1, 5, -1, -1, -1, -1, -1, -1}));
  EXPECT_EQ(run_network(one_hot_model({2}, 2, 0), {{{2}, {0, 1}, DType::i64}}).data,
            (std::vector<double>{5, -1, -1, 5}));
}

TEST(SwiGlu, MultipliesTheSecondOperandByTheGate) {
  OnnxModel model;
  model.operator_set(28).input("a", {3}).input("b", {3});
  model.node("n", "SwiGLU", {"a", "b"}, "y").attribute("alpha", 2.0).output("y");
  const auto gate = [](double a) { return a / (1 + std::exp(-2 * a)); };
  EXPECT_THAT(
      run_network(model, {{{3}, {0, 1, -2}}, {{3}, {5, 3, 4}}}).data,
      ::testing::Pointwise(::testing::DoubleNear(1e-6), std::vector<double>{0, 3 * gate(1), 4 * gate(-2)}));
}

TEST(OneHot, HasTheTypeOfItsNumbers) {
  OnnxModel model;
  model.input("i", {2}, onnx::TensorProto_DataType_INT64).initializer("d", {}, {3});
  model.input("v", {2}, onnx::TensorProto_DataType_FLOAT16)
      .node("n", "OneHot", {"i", "d", "v"}, "y")
      .output("y");
  const Values y = run_network(model, {{{2}, {0, 2}, DType::i64}, {{2}, {-1, 5}, DType::f16}});
  EXPECT_EQ(y.dtype, DType::f16);
  EXPECT_EQ(y.data, (std::vector<double>{5, -1, -1, -1, -1, 5}));
}

OnnxModel affine_grid_model(const Shape& matrices, const Shape& size, int64_t align) {
  OnnxModel model;
  model.operator_set(20).input("m", matrices).integers("s", size);
  return std::move(
      model.node("n", "AffineGrid", {"m", "s"}, "y").output("y").attribute("align_corners", align));
}

// Columns before rows; middles of places, or the first and the last place at -1 and 1.
TEST(AffineGrid, MovesTheCoordinatesOfEachPlace) {
  const Values moved{{1, 2, 3}, {1, 0, 10, 0, 2, 20}};
  EXPECT_EQ(run_network(affine_grid_model({1, 2, 3}, {1, 1, 2, 2}, 0), {moved}).data,
            (std::vector<double>{9.5, 19, 10.5, 19, 9.5, 21, 10.5, 21}));
  EXPECT_EQ(run_network(affine_grid_model({1, 2, 3}, {1, 1, 2, 2}, 1), {moved}).data,
            (std::vector<double>{9, 18, 11, 18, 9, 22, 11, 22}));
  const Values turned{{1, 3, 4}, {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0}};
  EXPECT_EQ(run_network(affine_grid_model({1, 3, 4}, {1, 1, 2, 1, 2}, 1), {turned}).data,
            (std::vector<double>{-1, -1, -1, -1, -1, 1, 1, -1, -1, 1, -1, 1}));
  EXPECT_EQ(import_error(affine_grid_model({1, 2, 3}, {1, 1, 2}, 0)),
            "node 'n' (AffineGrid): its matrices [1,2,3] and size [1,1,2] do not fit together");
  EXPECT_EQ(import_error(affine_grid_model({1, 2, 3}, {1, 1, 1 << 20, 1 << 20}, 0)),
            "node 'n' (AffineGrid): its result [1048576,1048576] is too large");
  EXPECT_THAT(import_error(affine_grid_model({1, 2, 3}, {1, 1, int64_t{1} << 40, int64_t{1} << 40}, 0)),
              ::testing::HasSubstr("node 'n' (AffineGrid): its result"));
}

}  // namespace
}  // namespace lathe
