// MatMul: the reference against sums by hand, and the network against the reference.
#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

OnnxModel product_model(const Shape& a, const Shape& b) {
  OnnxModel model;
  model.input("a", a).input("b", b).node("n", "MatMul", {"a", "b"}, "y").output("y");
  return model;
}

Values product(const Shape& a, const Shape& b) {
  return run_network(product_model(a, b), {numbered(a), numbered(b)});
}

TEST(MatMul, MultipliesMatrices) {
  const Values y = product({2, 3}, {3, 2});
  EXPECT_EQ(y.shape, (Shape{2, 2}));
  EXPECT_EQ(y.data, (std::vector<double>{22, 28, 49, 64}));
}

TEST(MatMul, TakesOneAxisAsARowOrAColumn) {
  EXPECT_EQ(product({3}, {3, 2}).shape, (Shape{2}));
  EXPECT_EQ(product({3}, {3, 2}).data, (std::vector<double>{22, 28}));
  EXPECT_EQ(product({2, 3}, {3}).shape, (Shape{2}));
  EXPECT_EQ(product({2, 3}, {3}).data, (std::vector<double>{14, 32}));
  EXPECT_EQ(product({3}, {3}).shape, Shape{});
  EXPECT_EQ(product({3}, {3}).data, (std::vector<double>{14}));
}

TEST(MatMul, BroadcastsLeadingAxes) {
  const Values y = product({2, 1, 1, 2}, {3, 2, 2});
  EXPECT_EQ(y.shape, (Shape{2, 3, 1, 2}));
  std::vector<double> expected;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int c = 0; c < 2; ++c)
        expected.push_back((2 * i + 1) * (4 * j + c + 1) + (2 * i + 2) * (4 * j + c + 3));
    }
  }
  EXPECT_EQ(y.data, expected);
  EXPECT_EQ(product({2, 2}, {3, 2, 1}).shape, (Shape{3, 2, 1}));
}

TEST(MatMul, JoinsWithTheBiasBehindIt) {
  OnnxModel model = product_model({2, 2, 3}, {3, 2});
  model.initializer("c", {2}, {0.5F, -100.0F})
      .node("m", "Add", {"y", "c"}, "z")
      .node("o", "Relu", {"z"}, "r");
  model.proto.mutable_graph()->mutable_output(0)->set_name("r");
  EXPECT_EQ(run_network(model, {numbered({2, 2, 3}), numbered({3, 2})}).data,
            (std::vector<double>{22.5, 0, 49.5, 0, 76.5, 0, 103.5, 36}));
}

TEST(MatMul, NamesShapesThatDoNotMultiply) {
  EXPECT_EQ(import_error(product_model({2, 3}, {2, 3})),
            "node 'n' (MatMul): [2,3] and [2,3] do not multiply");
  EXPECT_EQ(import_error(product_model({2, 1, 3}, {4, 3, 2})),
            "node 'n' (MatMul): the shapes [2] and [4] do not broadcast");
}

}  // namespace
}  // namespace lathe
