// Gemm: the reference against sums by hand, and the network against the reference.
#include <gtest/gtest.h>

#include "graph/network_runner.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

// y = n(a, b) of these shapes, b constant 1, 2, 3 ..; attributes follow.
OnnxModel gemm_model(const Shape& a, const Shape& b, const std::vector<std::string>& inputs) {
  OnnxModel model;
  const std::vector<double> numbers = numbered(b).data;
  model.input("a", a).initializer("b", b, {numbers.begin(), numbers.end()});
  model.initializer("row", {2}, {10, 20}).initializer("column", {2, 1}, {10, 20});
  return std::move(model.node("n", "Gemm", inputs, "y").output("y"));
}

TEST(Gemm, ScalesItsProductAndWhatItAdds) {
  OnnxModel model = gemm_model({2, 3}, {3, 2}, {"a", "b", "row"});
  model.attribute("alpha", 0.5).attribute("beta", -2.0);
  EXPECT_EQ(run_network(model, {numbered({2, 3})}).data, (std::vector<double>{-9, -26, 4.5, -8}));
}

TEST(Gemm, ScalesAProductAlone) {
  const OnnxModel model = gemm_model({2, 3}, {3, 2}, {"a", "b"}).attribute("alpha", 2.0);
  EXPECT_EQ(run_network(model, {numbered({2, 3})}).data, (std::vector<double>{44, 56, 98, 128}));
}

TEST(Gemm, AddsAColumnToATransposedProduct) {
  OnnxModel model = gemm_model({3, 2}, {2, 3}, {"a", "b", "column"}).attribute("transA", 1);
  model.attribute("transB", 1).attribute("beta", 0.5);
  EXPECT_EQ(run_network(model, {numbered({3, 2})}).data, (std::vector<double>{27, 54, 38, 74}));
}

}  // namespace
}  // namespace lathe
